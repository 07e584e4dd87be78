package dev.holdfast.server;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

import dev.holdfast.audit.Act;
import dev.holdfast.job.NewJob;
import dev.holdfast.testkit.Covers;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.FileTime;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.UUID;
import java.util.concurrent.Callable;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** The files show what the database says, whoever changed it and whatever became of them. */
@Covers({"C2", "C3"})
class AgentFilesTest extends AgentsRig {

  private static TestServer another() {
    return TestServer.start(Fleet.open().withAgents(TestServer.open().ownConfig().agents()));
  }

  /** Another node starts: what it does for all tenants that it is to look after, for this one. */
  private TestServer started() {
    TestServer next = another();
    next.server().agents().repair(tenant.name());
    return next;
  }

  private String fileStatus(String id) {
    return fleet.json("jobs/" + id + "/status.json").path("status").asString();
  }

  private String trackedStatus(String id) {
    return fleet.json("job_track.json").path(id).path("status").asString();
  }

  @Test
  void the_layout_is_there_with_the_first_job() {
    String id = fleet.submit();

    assertThat(fleet.directory().toFile().list())
        .containsExactlyInAnyOrder("configs", "datasets", "jobs", "queue", "job_track.json");
    assertThat(fleet.file("jobs/" + id).toFile().list())
        .containsExactlyInAnyOrder("job_info.json", "status.json", "logs", "progress", "results");
    assertThat(fleet.json("jobs/" + id + "/job_info.json").propertyNames())
        .containsExactlyInAnyOrder(
            "job_id",
            "job_name",
            "config_path",
            "target_host",
            "container_id",
            "container_name",
            "experiment_name",
            "run_name");
    assertThat(fleet.json("jobs/" + id + "/status.json").propertyNames())
        .containsExactlyInAnyOrder("job_id", "status", "status_updated_at");
  }

  @Test
  void every_report_is_written_with_its_own_time() {
    fleet.submit();
    String id = fleet.running("a");
    double before = updatedAt(id);
    tenant.advance(Duration.ofSeconds(5));

    fleet.report("a", id, "running");

    assertThat(updatedAt(id) - before).isEqualTo(5.0, within(0.001));
  }

  private double updatedAt(String id) {
    return fleet.json("jobs/" + id + "/status.json").path("status_updated_at").asDouble();
  }

  // The change is committed, and whoever made it came to its end before it wrote a file.
  @Test
  void what_was_committed_and_not_written_is_written_by_the_next_node_to_start() {
    fleet.submit();
    String id = fleet.running("a");
    tenant.acts().cancel(UUID.fromString(id), Act.by("somebody").withForce());
    assertThat(fileStatus(id)).isEqualTo("running");

    try (TestServer next = started()) {
      assertThat(next.port()).isPositive();
      assertThat(fileStatus(id)).isEqualTo("canceled");
      assertThat(trackedStatus(id)).isEqualTo("canceled");
    }
  }

  @Test
  void what_a_node_that_died_left_half_written_goes_when_the_next_one_starts() throws Exception {
    String id = fleet.submit();
    List<Path> old =
        Stream.of(
                "queue/.x.json.1.tmp",
                "jobs/" + id + "/.status.json.1.tmp",
                ".job_track.json.1.tmp")
            .map(fleet::file)
            .toList();
    for (Path file : old) {
      Files.writeString(file, "{");
      Files.setLastModifiedTime(file, FileTime.from(Instant.now().minus(Duration.ofHours(2))));
    }
    Path beingWritten = Files.writeString(fleet.file("queue/.y.json.2.tmp"), "{");

    try (TestServer next = started()) {
      assertThat(next.port()).isPositive();
      assertThat(old).noneMatch(Files::exists);
      assertThat(beingWritten).exists();
    }
  }

  @Test
  void what_was_committed_and_not_written_is_written_by_whichever_node_looks_next() {
    String retried = fleet.submit();
    fleet.running("a");
    fleet.report("a", retried, "failed");
    tenant.acts().retry(UUID.fromString(retried), Act.by("somebody"));
    String failed = fleet.submit();
    tenant.acts().fail(UUID.fromString(failed), Act.by("somebody").withForce());
    String restated = fleet.submit();
    fleet.caller().post("/stop/" + restated, "");
    tenant.acts().fail(UUID.fromString(restated), Act.by("somebody").withForce());
    String enqueued =
        tenant
            .jobs()
            .enqueue(NewJob.of("simulation", Map.of("config_path", "x.yaml")).withQueue("agents"))
            .id()
            .toString();
    String deleted = fleet.submit();
    fleet.caller().post("/stop/" + deleted, "");
    tenant.acts().delete(UUID.fromString(deleted), Act.by("somebody"));

    fleet.server().server().agents().follow(tenant.name());

    assertThat(fileStatus(retried)).isEqualTo("queued");
    assertThat(fleet.file("queue/" + retried + ".json")).exists();
    assertThat(fileStatus(failed)).isEqualTo("failed");
    assertThat(fleet.file("queue/" + failed + ".json")).doesNotExist();
    assertThat(fileStatus(restated)).isEqualTo("failed");
    assertThat(fileStatus(enqueued)).isEqualTo("queued");
    assertThat(Stream.of(retried, failed, restated, enqueued).map(this::trackedStatus))
        .containsExactly("queued", "failed", "failed", "queued");
    assertThat(fleet.json("job_track.json").has(deleted)).isFalse();
    assertThat(fleet.server().server().agents().follow(tenant.name())).isZero();
  }

  @Test
  void files_that_were_lost_or_changed_are_put_right_at_the_next_start() throws IOException {
    fleet.submit();
    String running = fleet.running("a");
    String queued = fleet.submit();
    String before = Files.readString(fleet.file("jobs/" + running + "/status.json"));
    Files.writeString(fleet.file("jobs/" + running + "/status.json"), "{\"status\": \"finished\"}");
    Files.delete(fleet.file("jobs/" + running + "/job_info.json"));
    Files.delete(fleet.file("queue/" + queued + ".json"));
    Files.writeString(fleet.file("queue/" + running + ".json"), "{}");
    Files.delete(fleet.file("job_track.json"));
    assertThat(fleet.status(running)).as("files are not asked").isEqualTo("running");

    try (TestServer next = started()) {
      assertThat(next.port()).isPositive();
      assertThat(fleet.file("jobs/" + running + "/status.json")).hasContent(before);
      assertThat(fleet.file("jobs/" + running + "/job_info.json")).exists();
      assertThat(fleet.file("queue/" + queued + ".json")).exists();
      assertThat(fleet.file("queue/" + running + ".json")).doesNotExist();
      assertThat(trackedStatus(running)).isEqualTo("running");
      assertThat(trackedStatus(queued)).isEqualTo("queued");
    }
  }

  @Test
  void a_delete_that_did_not_come_to_its_end_is_ended_by_whichever_node_looks_next() {
    String id = fleet.submit();
    fleet.caller().post("/stop/" + id, "");
    tenant.execute("UPDATE {schema}.agent_job SET removing = true");
    tenant.acts().delete(UUID.fromString(id), Act.by("somebody"));
    assertThat(fleet.file("jobs/" + id)).exists();

    fleet.server().server().agents().follow(tenant.name());

    assertThat(fleet.file("jobs/" + id)).doesNotExist();
    assertThat(fleet.json("job_track.json").has(id)).isFalse();
    assertThat(tenant.query("SELECT * FROM {schema}.agent_job")).isEmpty();
  }

  @Test
  void two_nodes_never_leave_an_older_state_in_the_files() throws Exception {
    try (TestServer other = another();
        ExecutorService threads = Executors.newVirtualThreadPerTaskExecutor()) {
      List<Fleet> nodes = List.of(fleet, new Fleet(other, tenant));
      List<Callable<String>> jobs =
          IntStream.range(0, 60)
              .mapToObj(number -> (Callable<String>) () -> oneJob(nodes, number))
              .toList();
      List<String> ids = new ArrayList<>();
      for (Future<String> job : threads.invokeAll(jobs)) {
        ids.add(job.get());
      }

      assertThat(ids).doesNotHaveDuplicates();
      for (String id : ids) {
        assertThat(fleet.caller().get("/status/" + id).json())
            .isEqualTo(fleet.json("jobs/" + id + "/status.json"));
        assertThat(fileStatus(id)).isEqualTo("finished");
        assertThat(trackedStatus(id)).isEqualTo("finished");
      }
      assertThat(fleet.file("queue").toFile().list()).isEmpty();
    }
  }

  // Each word to another node than the one before, and people look and refresh in between.
  private static String oneJob(List<Fleet> nodes, int number) {
    String worker = "agent-" + number;
    nodes.get(number % 2).submit();
    String id = nodes.get((number + 1) % 2).take(worker);
    for (int word = 0; word < 6; word++) {
      nodes.get(word % 2).report(worker, id, "running");
      nodes.get((word + 1) % 2).status(id);
    }
    assertThat(nodes.get(number % 2).report(worker, id, "finished").status()).isEqualTo(200);
    return id;
  }

  @Test
  void what_retention_forgets_is_no_longer_tracked_but_its_results_stay() throws IOException {
    fleet.submit();
    String id = fleet.running("a");
    Path result = fleet.file("jobs/" + id + "/results/result.json");
    Files.createDirectories(result.getParent());
    Files.writeString(result, "{}");
    fleet.report("a", id, "finished");
    tenant.execute("DELETE FROM {schema}.job_done");

    fleet.server().server().agents().tidy(tenant.name());

    assertThat(result).exists();
    assertThat(fleet.json("job_track.json").has(id)).isFalse();
    assertThat(fleet.caller().get("/status/" + id).status()).isEqualTo(404);
  }

  @Test
  void a_link_in_place_of_a_jobs_directory_leads_nobody_out(@TempDir Path outside)
      throws IOException {
    fleet.submit();
    String id = fleet.take("a");
    Path job = fleet.file("jobs/" + id);
    try (Stream<Path> files = Files.list(job)) {
      for (Path file : files.toList()) {
        Files.delete(file);
      }
    }
    Files.delete(job);
    Files.createDirectories(outside.resolve("logs"));
    Files.writeString(outside.resolve("logs/" + id + ".log"), "secret");
    Files.createSymbolicLink(job, outside);

    assertThat(fleet.report("a", id, "running").status()).isEqualTo(200);
    assertThat(fleet.caller().get("/logs/" + id).status()).isEqualTo(404);
    assertThat(fleet.caller().get("/result/" + id).text()).contains("pending");
    assertThat(fleet.status(id)).isEqualTo("running");
    assertThat(outside.toFile().list()).containsExactly("logs");

    Files.delete(job);
    fleet.server().server().agents().follow(tenant.name());
    assertThat(fileStatus(id)).isEqualTo("running");
  }

  @Test
  void many_jobs_do_not_make_the_registry_cost_as_much_for_each() {
    tenant
        .jobs()
        .enqueueAll(
            IntStream.range(0, 210)
                .mapToObj(i ->
                    NewJob.of("simulation", Map.of("config_path", "x.yaml")).withQueue("agents"))
                .toList());
    fleet.server().server().agents().follow(tenant.name());
    long written = registryKey();

    String late = fleet.submit();
    assertThat(registryKey()).as("nobody waits for it any more").isEqualTo(written);
    assertThat(fileStatus(late)).isEqualTo("queued");
    fleet.server().server().agents().follow(tenant.name());

    assertThat(trackedStatus(late)).isEqualTo("queued");
    assertThat(fleet.json("job_track.json").size()).isEqualTo(211);
  }

  private long registryKey() {
    try {
      return (Long) Files.getAttribute(fleet.file("job_track.json"), "unix:ino");
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }
}
