package dev.holdfast.server;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.holdfast.api.HoldfastClient;
import dev.holdfast.job.JobState;
import dev.holdfast.job.NewJob;
import dev.holdfast.job.Outcome;
import dev.holdfast.lease.ClaimRequest;
import dev.holdfast.lease.Fences;
import dev.holdfast.lease.Finish;
import dev.holdfast.lease.FinishReply;
import dev.holdfast.lease.Lease;
import dev.holdfast.server.postgres.Backup;
import dev.holdfast.server.postgres.EmbeddedPostgres;
import dev.holdfast.server.postgres.Restore;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.UUID;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.stream.IntStream;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** A backup is taken while jobs come and go; what is restored from it is sound, and is fenced. */
class BackupTest {

  private static final int JOBS = 200;

  @TempDir private static Path shared;
  @TempDir private Path temporary;

  private static Path backup;
  private static List<UUID> acknowledged = List.of();
  private static Lease running;
  private static Lease stale;

  // One database made, one backup taken: the tests look at what can be made of it.
  @BeforeAll
  static void take() throws Exception {
    Path data = shared.resolve("data");
    backup = shared.resolve("backup");
    try (OwnDatabase original = OwnDatabase.start(data)) {
      HoldfastClient client = original.client();
      acknowledged =
          IntStream.range(0, JOBS)
              .mapToObj(number -> client.enqueue(NewJob.of("sum", Map.of("n", number))).id())
              .toList();
      running = claimOne(client, "works-during-the-backup");
      AtomicBoolean over = new AtomicBoolean();
      CountDownLatch busy = new CountDownLatch(20);
      Thread load = Thread.startVirtualThread(() -> work(client, over, busy));
      busy.await();

      Backup.take(data, backup);

      over.set(true);
      load.join();
      stale = claimOne(client, "claims-after-the-backup");
    }
  }

  private static void work(HoldfastClient client, AtomicBoolean over, CountDownLatch busy) {
    while (!over.get()) {
      client.enqueue(NewJob.of("sum", "meanwhile"));
      Lease lease = claimOne(client, "works");
      finish(client, lease);
      busy.countDown();
    }
  }

  @Test
  void what_is_restored_has_all_that_was_acknowledged_and_refuses_a_stale_worker()
      throws Exception {
    Path data = temporary.resolve("restored");

    var fences = Restore.from(backup, data);

    try (OwnDatabase restored = OwnDatabase.start(data)) {
      HoldfastClient client = restored.client(); // with the token that came along
      assertThat(acknowledged).allMatch(id -> client.get(id).isPresent());
      Lease current = claimOf(client, stale.key().jobId());
      assertThat(finish(client, stale)).isEqualTo(new FinishReply.Lost());
      assertThat(client.get(stale.key().jobId()).orElseThrow().state()).isEqualTo(JobState.RUNNING);
      assertThat(finish(client, current)).isInstanceOf(FinishReply.Recorded.class);
      assertThat(current.key().fence())
          .isGreaterThan(stale.key().fence())
          .isGreaterThanOrEqualTo(Fences.LEAP);
      assertThat(fences.values()).allMatch(fence -> fence > Fences.LEAP);
      // Granted before the backup: its worker still has it.
      assertThat(client.get(running.key().jobId()).orElseThrow().state())
          .isEqualTo(JobState.RUNNING);
      assertThat(restored.holdfast().invariants().check()).isEmpty();
      assertThat(restored.holdfast().audit().latest(10))
          .anyMatch(record -> record.act().equals("raise_fences"));
    }
  }

  @Test
  void a_database_that_is_not_running_is_started_for_its_backup() {
    Path second = temporary.resolve("second");

    long bytes = Backup.take(shared.resolve("data"), second);

    assertThat(bytes).isPositive();
    assertThat(second.resolve("backup.manifest")).exists();
    assertThat(EmbeddedPostgres.running(shared.resolve("data"))).isEmpty();
  }

  @Test
  void nobody_else_can_read_a_backup() throws IOException {
    assertThat(mode(backup)).isEqualTo("rwx------");
    assertThat(mode(backup.resolve("database.password"))).isEqualTo("rw-------");
    assertThat(mode(backup.resolve("admin.token"))).isEqualTo("rw-------");
  }

  @Test
  void neither_a_backup_nor_a_restore_writes_where_something_is() throws IOException {
    Path occupied = Files.createDirectory(temporary.resolve("occupied"));
    Files.writeString(occupied.resolve("mine"), "precious");

    assertThatThrownBy(() -> Backup.take(shared.resolve("data"), occupied))
        .hasMessageContaining("DIR")
        .hasMessageContaining("new or empty");
    assertThatThrownBy(() -> Restore.from(backup, occupied))
        .hasMessageContaining("--data")
        .hasMessageContaining("new or empty");
    assertThat(occupied.resolve("mine")).hasContent("precious");
  }

  @Test
  void a_backup_that_is_damaged_or_not_whole_is_refused_and_leaves_nothing() throws IOException {
    Path damaged = copy("damaged");
    Files.writeString(
        damaged.resolve("database").resolve("PG_VERSION"), "x", StandardOpenOption.APPEND);
    Path partial = copy("partial");
    Files.delete(partial.resolve("database").resolve("global").resolve("pg_control"));
    Path cutOff = copy("cut-off");
    Files.delete(cutOff.resolve("backup.manifest"));

    refused(damaged, "PG_VERSION is not as it was written");
    refused(partial, "pg_control is missing");
    refused(cutOff, "there is no backup.manifest");
    refused(temporary.resolve("nowhere"), "there is no backup.manifest");
  }

  @Test
  void a_backup_of_another_version_is_refused_and_says_what_can_restore_it() throws IOException {
    Path other = copy("other");
    Path manifest = other.resolve("backup.manifest");
    Files.writeString(
        manifest, Files.readString(manifest).replaceFirst("postgres \\d+", "postgres 15"));

    refused(other, "is of 15");
  }

  @Test
  void a_directory_whose_restore_was_cut_off_is_not_served() throws IOException {
    Path data = Files.createDirectory(temporary.resolve("half"));
    Files.createFile(data.resolve("restore.unfinished"));

    assertThatThrownBy(() -> EmbeddedPostgres.start(data)).hasMessageContaining("cut off");
  }

  @Test
  void a_directory_without_a_database_says_what_to_do_for_one_of_ones_own() {
    assertThatThrownBy(() -> Backup.take(temporary, temporary.resolve("backup")))
        .hasMessageContaining("--data")
        .hasMessageContaining("holdfast fences raise");
  }

  private void refused(Path from, String why) {
    Path data = temporary.resolve("target");

    assertThatThrownBy(() -> Restore.from(from, data)).hasMessageContaining(why);

    assertThat(data)
        .satisfiesAnyOf(
            none -> assertThat(none).doesNotExist(), none -> assertThat(none).isEmptyDirectory());
  }

  private Path copy(String name) throws IOException {
    Path copy = temporary.resolve(name);
    try (var files = Files.walk(backup)) {
      for (Path file : files.toList()) {
        Files.copy(file, copy.resolve(backup.relativize(file)));
      }
    }
    return copy;
  }

  private static String mode(Path file) throws IOException {
    return PosixFilePermissions.toString(Files.getPosixFilePermissions(file));
  }

  private static Lease claimOne(HoldfastClient client, String worker) {
    return client.leases().claim(ClaimRequest.of(worker, Set.of("default"), 1)).leases().getFirst();
  }

  private static Lease claimOf(HoldfastClient client, UUID job) {
    return client
        .leases()
        .claim(ClaimRequest.of("after-the-restore", Set.of("default"), JOBS))
        .leases()
        .stream()
        .filter(lease -> lease.key().jobId().equals(job))
        .findFirst()
        .orElseThrow();
  }

  private static FinishReply finish(HoldfastClient client, Lease lease) {
    return client.leases().finish(List.of(new Finish(lease, Outcome.succeeded()))).getFirst();
  }
}
