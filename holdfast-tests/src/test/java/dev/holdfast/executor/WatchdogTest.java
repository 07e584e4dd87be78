package dev.holdfast.executor;

import static org.assertj.core.api.Assertions.assertThat;

import dev.holdfast.chaos.fleet.Freeze;
import dev.holdfast.job.JobState;
import dev.holdfast.job.NewJob;
import dev.holdfast.job.PolicyOverrides;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.sql.Timestamp;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.UUID;
import java.util.concurrent.atomic.AtomicBoolean;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** What becomes of commands when the process that runs them no longer can see to them. */
class WatchdogTest extends ExecutorTest {

  private static final int ROUNDS = Integer.getInteger("holdfast.watchdog.rounds", 1);
  private static final Duration UNUSUAL_GRACE = Duration.ofMillis(43_210);

  private static final String STUBBORN =
      "trap 'echo t' TERM; echo; while true; do sleep 600 & wait; done";

  @TempDir Path directory;

  @Test
  @Timeout(3_600) // as many rounds as somebody asks for
  void a_command_of_a_frozen_worker_is_dead_before_its_lease_ends() throws Exception {
    for (int round = 0; round < ROUNDS; round++) {
      Path here = Files.createDirectory(directory.resolve("frozen-" + round));
      UUID id = enqueue(stubborn(here));
      try (ChildExecutor child = ChildExecutor.start(tenant.name())) {
        long leader = Processes.pidIn(here.resolve("leader"));
        long grandchild = Processes.pidIn(here.resolve("grandchild"));
        Freeze.of(child.process(), Duration.ofSeconds(30));
        Instant leaseEnds = leaseEnds(id); // read now: one that wakes again renews it

        Processes.await(() -> !Processes.isRunning(leader) && !Processes.isRunning(grandchild));

        report("frozen", round, leaseEnds);
        assertThat(now()).isBefore(leaseEnds);
        assertThat(child.process().isAlive()).isTrue();
      }
    }
  }

  @Test
  @Timeout(3_600) // as many rounds as somebody asks for
  void a_command_of_a_killed_worker_is_dead_at_once() throws Exception {
    for (int round = 0; round < ROUNDS; round++) {
      Path here = Files.createDirectory(directory.resolve("killed-" + round));
      UUID id = enqueue(stubborn(here));
      try (ChildExecutor child = ChildExecutor.start(tenant.name())) {
        long leader = Processes.pidIn(here.resolve("leader"));
        long grandchild = Processes.pidIn(here.resolve("grandchild"));

        child.kill();
        Instant leaseEnds = leaseEnds(id);
        Processes.await(() -> !Processes.isRunning(leader) && !Processes.isRunning(grandchild));

        report("killed", round, leaseEnds);
        assertThat(now()).isBefore(leaseEnds.minusSeconds(5));
      }
    }
  }

  private void report(String what, int round, Instant leaseEnds) {
    System.out.printf(
        "Watchdog: %s, round %d of %d: dead %d ms before the lease's end%n",
        what, round + 1, ROUNDS, Duration.between(now(), leaseEnds).toMillis());
  }

  @Test
  void a_command_whose_lease_is_renewed_runs_on() throws Exception {
    UUID id = enqueue(command("sleep 13", directory)); // longer than its lease
    try (ChildExecutor child = ChildExecutor.start(tenant.name())) {
      Processes.await(() -> tenant.job(id).state().isFinished());
    }

    assertThat(tenant.job(id).state()).isEqualTo(JobState.SUCCEEDED);
    assertThat(tenant.jobs().attempts(id)).hasSize(1);
  }

  @Test
  void a_watchdog_that_was_killed_or_frozen_has_a_successor_that_knows_all_groups()
      throws Exception {
    try (Watchdog watchdog = new Watchdog(Shell.find(), UNUSUAL_GRACE, Optional.empty())) {
      Process renewed = group();
      Process due = group();
      long soon = Uptime.now() + 500;
      watchdog.watch(renewed.pid(), WatchdogTest::later);
      watchdog.watch(due.pid(), () -> soon);
      ProcessHandle first = watchdogProcess();
      first.destroyForcibly();
      Processes.await(() -> isSuccessor(watchdogProcess(), first));
      ProcessHandle second = watchdogProcess();
      signal("STOP", second.pid());

      assertThat(due.waitFor()).isEqualTo(128 + 15);
      assertThat(second.isAlive()).isFalse();
      assertThat(renewed.isAlive()).isTrue();
      watchdog.end(renewed.pid());
      assertThat(renewed.waitFor()).isEqualTo(128 + 9);
      assertThat(watchdog.isGone(renewed.pid())).isTrue();
    }
  }

  @Test
  void a_group_whose_end_has_begun_is_not_renewed() throws Exception {
    try (Watchdog watchdog = new Watchdog(Shell.find(), Duration.ofSeconds(2), Optional.empty())) {
      Process stubborn = Shell.find().inOwnSession(STUBBORN, List.of("x")).start();
      assertThat(stubborn.getInputStream().read()).isEqualTo('\n');
      long soon = Uptime.now() + 20;
      AtomicBoolean isRenewed = new AtomicBoolean();
      watchdog.watch(stubborn.pid(), () -> isRenewed.get() ? later() : soon);
      assertThat(stubborn.getInputStream().read()).isEqualTo('t'); // it got TERM

      isRenewed.set(true);

      assertThat(stubborn.waitFor()).isEqualTo(128 + 9);
    }
  }

  @Test
  void a_watchdog_that_is_closed_takes_what_it_watches_with_it() throws Exception {
    Process left = group();
    try (Watchdog watchdog = new Watchdog(Shell.find(), Duration.ofSeconds(60), Optional.empty())) {
      watchdog.watch(left.pid(), WatchdogTest::later);
    }

    assertThat(left.waitFor()).isEqualTo(128 + 9);
  }

  private static long later() throws IOException {
    return Uptime.now() + 60_000;
  }

  private static Process group() throws IOException {
    return Shell.find().inOwnSession("exec sleep 600", List.of("x")).start();
  }

  // Other tests have watchdogs, too; ours is told by its grace.
  private static ProcessHandle watchdogProcess() {
    String grace = String.valueOf(Uptime.hundredths(UNUSUAL_GRACE));
    return ProcessHandle.current()
        .children()
        .filter(child ->
            child.info().arguments().map(List::of).orElse(List.of()).reversed().stream()
                .findFirst()
                .equals(Optional.of(grace)))
        .filter(ProcessHandle::isAlive)
        .findFirst()
        .orElse(ProcessHandle.current()); // none yet
  }

  private static boolean isSuccessor(ProcessHandle watchdog, ProcessHandle first) {
    return !watchdog.equals(first) && !watchdog.equals(ProcessHandle.current());
  }

  private static void signal(String name, long pid) throws Exception {
    assertThat(new ProcessBuilder("kill", "-" + name, String.valueOf(pid)).start().waitFor())
        .isZero();
  }

  private Instant leaseEnds(UUID id) {
    return tenant.job(id).lease().orElseThrow().expiresAt();
  }

  private Instant now() {
    Object now = tenant.query("SELECT {schema}.clock() AS now").getFirst().get("now");
    return ((Timestamp) Objects.requireNonNull(now)).toInstant();
  }

  /** Neither it nor its children care for TERM. */
  private static NewJob stubborn(Path here) {
    return command(
        "trap '' TERM; sleep 600 & echo $! > grandchild; echo $$ > leader; while true; do wait;"
            + " done",
        here);
  }

  private static NewJob command(String script, Path here) {
    return NewJob.of(
            "process", Map.of("argv", List.of("bash", "-c", script), "cwd", here.toString()))
        .withPolicy(PolicyOverrides.NONE.withLeaseLength(ChildExecutor.LEASE).withMaxAttempts(1));
  }
}
