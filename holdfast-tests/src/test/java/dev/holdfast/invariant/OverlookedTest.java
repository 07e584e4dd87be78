package dev.holdfast.invariant;

import static org.assertj.core.api.Assertions.assertThat;

import dev.holdfast.fleet.IdleTime;
import dev.holdfast.fleet.Presence;
import dev.holdfast.fleet.WorkerInfo;
import dev.holdfast.fleet.Workers;
import dev.holdfast.job.Kind;
import dev.holdfast.job.NewJob;
import dev.holdfast.job.Placement;
import dev.holdfast.queue.QueueSettings;
import dev.holdfast.tenant.Db;
import dev.holdfast.testkit.TestTenant;
import dev.holdfast.worker.Worker;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.UUID;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** I14's limit of time, for jobs that need nothing but a worker. */
class OverlookedTest {

  @RegisterExtension final TestTenant tenant = new TestTenant();

  private Overlooked overlooked;
  private Optional<IdleTime> idle = Optional.of(idleFor(Duration.ofMinutes(1)));
  private Presence presence;

  @BeforeEach
  void aWorkerOfKindXIsOnline() {
    overlooked = tenant.holdfast().overlooked(tenant.name());
    WorkerInfo info =
        new WorkerInfo(
            "w",
            "here",
            Map.of("zone", "a"),
            Optional.of(tenant.name().value()),
            Set.of("default"),
            Optional.of(Set.of("x")));
    presence = new Presence(control(), () -> info, () -> idle);
    presence.beat();
  }

  @AfterEach
  void leave() {
    presence.leave();
  }

  @Test
  void a_job_that_waits_while_a_worker_has_permits_left_over_is_reported() {
    UUID id = enqueue(NewJob.of("x", 1));
    assertThat(overlooked.look()).isEmpty(); // nobody knows since when it could run

    idleUntil("5 seconds"); // the poll interval is 2 s, and 2 s more are allowed

    assertThat(overlooked.look())
        .singleElement()
        .satisfies(violation -> {
          assertThat(violation.id()).isEqualTo("I14");
          assertThat(violation.jobId()).contains(id);
          assertThat(violation.detail()).contains("worker w").contains("waited for");
        });
  }

  @Test
  void it_is_reported_until_it_runs() {
    enqueue(NewJob.of("x", 1));
    assertThat(overlooked.look()).isEmpty();
    idleUntil("5 seconds");
    assertThat(overlooked.look()).hasSize(1);
    assertThat(overlooked.look()).hasSize(1);

    tenant.worker().handle(Kind.of("x", Integer.class), (number, job) -> {}).build().runDue();

    assertThat(overlooked.look()).isEmpty();
  }

  @Test
  void waiting_for_as_long_as_a_poll_may_take_is_no_violation() {
    enqueue(NewJob.of("x", 1));
    assertThat(overlooked.look()).isEmpty();

    idleUntil("3 seconds");

    assertThat(overlooked.look()).isEmpty();
  }

  /** Jobs that the worker cannot have, or only perhaps. */
  @SuppressWarnings("ImmutableEnumChecker") // a job is a record, and nobody changes its lists
  enum Elsewhere {
    OTHER_KIND(NewJob.of("y", 1)),
    OTHER_QUEUE(NewJob.of("x", 1).withQueue("other")),
    OTHER_HOST(NewJob.of("x", 1).withPlacement(Placement.requiring("there"))),
    HOST_PREFERRED(NewJob.of("x", 1).withPlacement(Placement.preferring("there"))),
    NOT_DUE(NewJob.of("x", 1).withDelay(Duration.ofHours(1))),
    PENDING(NewJob.of("x", 1).asPending()),
    NEEDS_A_RESOURCE(NewJob.of("x", 1).withResources("site:1"));

    private final NewJob job;

    Elsewhere(NewJob job) {
      this.job = job;
    }
  }

  @ParameterizedTest
  @EnumSource
  void what_is_not_for_that_worker_is_not_overlooked_by_it(Elsewhere elsewhere) {
    enqueue(elsewhere.job);
    assertThat(overlooked.look()).isEmpty();

    idleUntil("1 minute");

    assertThat(overlooked.look()).isEmpty();
  }

  @Test
  void a_job_that_changed_between_two_looks_may_not_have_waited() {
    UUID id = enqueue(NewJob.of("x", 1));
    assertThat(overlooked.look()).isEmpty();
    tenant.acts().pause(id, AtWork.ADA);
    tenant.acts().resume(id, AtWork.ADA);

    idleUntil("1 minute");

    assertThat(overlooked.look()).isEmpty();
  }

  @Test
  void nor_may_one_whose_queue_was_paused_meanwhile() {
    enqueue(NewJob.of("x", 1));
    assertThat(overlooked.look()).isEmpty();
    tenant.queues().put("default", QueueSettings.DEFAULTS.withPaused(true));
    tenant.queues().put("default", QueueSettings.DEFAULTS);

    idleUntil("1 minute");

    assertThat(overlooked.look()).isEmpty();
  }

  @Test
  void a_worker_that_is_busy_overlooks_nothing() {
    enqueue(NewJob.of("x", 1));
    assertThat(overlooked.look()).isEmpty();

    idle = Optional.empty();
    presence.beat();

    assertThat(tenant.holdfast().workers().idle(tenant.name())).isEmpty();
    assertThat(overlooked.look()).isEmpty();
  }

  @Test
  void what_a_worker_says_counts_up_to_the_beat_before() {
    Workers workers = tenant.holdfast().workers();
    Instant firstBeat = workers.list(tenant.name(), "", 10).getFirst().beatAt();
    assertThat(workers.idle(tenant.name())).isEmpty();

    presence.beat();

    assertThat(workers.idle(tenant.name()))
        .singleElement()
        .satisfies(worker -> {
          assertThat(worker.since()).isBefore(firstBeat);
          assertThat(worker.until()).isEqualTo(firstBeat);
          assertThat(worker.pollInterval()).isEqualTo(Duration.ofSeconds(2));
        });
  }

  @Test
  void a_worker_that_takes_its_jobs_says_when_it_was_idle_and_overlooks_none() {
    List<Violation> violations = new ArrayList<>();
    long deadline = System.nanoTime() + Duration.ofMinutes(1).toNanos();
    try (Worker worker =
        tenant.worker().handle(Kind.of("z", Integer.class), (number, job) -> {}).start()) {
      while (!saysThatItWasIdle(worker) && System.nanoTime() < deadline) { // its third beat or so
        if (tenant.query("SELECT id FROM {schema}.job").isEmpty()) {
          enqueue(NewJob.of("z", 1));
        }
        violations.addAll(overlooked.look());
      }
      assertThat(saysThatItWasIdle(worker)).isTrue();
    }

    assertThat(violations).isEmpty();
  }

  private boolean saysThatItWasIdle(Worker worker) {
    return tenant.holdfast().workers().idle(tenant.name()).stream()
        .anyMatch(idle -> idle.name().equals(worker.name()));
  }

  private static IdleTime idleFor(Duration length) {
    return new IdleTime(length, Duration.ofSeconds(2));
  }

  private UUID enqueue(NewJob job) {
    return tenant.jobs().enqueue(job).id();
  }

  /** As if that much time had passed since the last look, with the worker idle all the while. */
  private void idleUntil(String later) {
    presence.beat();
    control()
        .useHandle(handle ->
            handle.execute(
                control()
                    .sql(
                        "UPDATE {schema}.worker SET idle_until = now() + interval '%s'"
                                .formatted(later)
                            + " WHERE tenant = '%s'".formatted(tenant.name()))));
  }

  private Db control() {
    return tenant.holdfast().tenants().control();
  }
}
