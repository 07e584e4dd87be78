package dev.holdfast.hold;

import static org.assertj.core.api.Assertions.assertThat;

import dev.holdfast.fleet.Presence;
import dev.holdfast.fleet.WorkerInfo;
import dev.holdfast.job.Failure;
import dev.holdfast.job.NewJob;
import dev.holdfast.job.Outcome;
import dev.holdfast.job.Placement;
import dev.holdfast.job.Policy.OnFailure;
import dev.holdfast.job.PolicyOverrides;
import dev.holdfast.lease.Lease;
import dev.holdfast.queue.QueueSettings;
import dev.holdfast.queue.Why;
import dev.holdfast.queue.Why.Reason;
import dev.holdfast.testkit.Covers;
import java.time.Duration;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.UUID;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** Every way a job can wait has its own answer. */
class WhyTest extends EngineRig {

  private static final NewJob EMAIL = NewJob.of("email", 1);

  private Presence worker;

  @BeforeEach
  void aWorkerIsOnline() {
    worker =
        new Presence(
            tenant.holdfast().tenants().control(),
            () ->
                new WorkerInfo(
                    "worker",
                    "host-1",
                    Map.of("gpu", "yes"),
                    Optional.of(tenant.name().value()),
                    Set.of("default"),
                    Optional.of(Set.of("email"))),
            Optional::empty);
    worker.beat();
  }

  @AfterEach
  void itLeaves() {
    worker.leave();
  }

  @Test
  void nothing_is_in_its_way() {
    assertThat(reason(enqueue(EMAIL))).isEqualTo(Reason.CLAIMABLE);
  }

  @Test
  void it_runs_at_a_worker() {
    UUID id = enqueue(EMAIL);
    claim(1);

    assertThat(tenant.jobs().why(id).reason()).isEqualTo(Reason.RUNNING);
    assertThat(tenant.jobs().why(id).detail()).contains("worker");
  }

  @Test
  void it_is_over() {
    UUID id = enqueue(EMAIL);
    succeed(claim(1).getFirst());

    assertThat(tenant.jobs().why(id).reason()).isEqualTo(Reason.FINISHED);
    assertThat(tenant.jobs().why(id).detail()).contains("succeeded");
  }

  @Test
  void it_is_paused_or_pending() {
    UUID paused = enqueue(EMAIL);
    tenant.acts().pause(paused, ADA);

    assertThat(reason(paused)).isEqualTo(Reason.PAUSED);
    assertThat(reason(enqueue(EMAIL.asPending()))).isEqualTo(Reason.PENDING);
  }

  @Test
  void its_time_has_not_come() {
    assertThat(reason(enqueue(EMAIL.withDelay(Duration.ofHours(1))))).isEqualTo(Reason.NOT_DUE);
  }

  @Test
  void its_queue_is_paused() {
    UUID id = enqueue(EMAIL);
    tenant.queues().put("default", QueueSettings.DEFAULTS.withPaused(true));

    assertThat(reason(id)).isEqualTo(Reason.QUEUE_PAUSED);
  }

  @Test
  void its_queue_is_full() {
    tenant.queues().put("default", QueueSettings.DEFAULTS.withConcurrencyLimit(1));
    enqueue(EMAIL);
    claim(1);

    assertThat(reason(enqueue(EMAIL))).isEqualTo(Reason.QUEUE_FULL);
  }

  @Test
  void another_job_holds_what_it_needs_whether_it_was_looked_at_or_not() {
    enqueue(EMAIL.withResources("site:1"));
    Lease holder = claim(1).getFirst();
    UUID waiting = enqueue(EMAIL.withResources("node:1", "site:1"));

    Why before = tenant.jobs().why(waiting);
    claim(1);
    Why after = tenant.jobs().why(waiting);

    assertThat(before).isEqualTo(after);
    assertThat(after.reason()).isEqualTo(Reason.RESOURCE_HELD);
    assertThat(after.blockedBy().orElseThrow().resource()).isEqualTo("site:1");
    assertThat(after.blockedBy().orElseThrow().jobId()).isEqualTo(holder.key().jobId());
    assertThat(after.blockedBy().orElseThrow().state()).isEqualTo("running");
    assertThat(after.blockedBy().orElseThrow().since())
        .isEqualTo(tenant.job(holder.key().jobId()).startedAt().orElseThrow());
  }

  @Covers("B12")
  @Test
  void a_failed_job_blocks_its_target() {
    UUID failed =
        enqueue(
            EMAIL
                .withTarget("crm")
                .withPolicy(PolicyOverrides.NONE.withMaxAttempts(1).withOnFailure(OnFailure.HOLD)));
    finish(claim(1).getFirst(), Outcome.failed(Failure.permanent("X", "y")));

    Why why = tenant.jobs().why(enqueue(EMAIL.withTarget("crm")));

    assertThat(why.reason()).isEqualTo(Reason.RESOURCE_BLOCKED);
    assertThat(why.blockedBy().orElseThrow().jobId()).isEqualTo(failed);
    assertThat(why.blockedBy().orElseThrow().state()).isEqualTo("failed");
  }

  @Test
  void an_earlier_job_of_its_target_comes_first() {
    UUID first = enqueue(NewJob.of("unserved", 1).withTarget("crm"));
    UUID second = enqueue(EMAIL.withTarget("crm"));
    claimKind("email", 1);

    Why why = tenant.jobs().why(second);

    assertThat(why.reason()).isEqualTo(Reason.NOT_ITS_TURN);
    assertThat(why.blockedBy().orElseThrow().jobId()).isEqualTo(first);
  }

  @Test
  void a_silent_worker_has_not_let_go_of_it_yet() {
    enqueue(EMAIL.withResources("site:1").withPolicy(PolicyOverrides.NONE.withMaxAttempts(1)));
    claim(1);
    tenant.advance(Duration.ofSeconds(31));
    reap();

    assertThat(reason(enqueue(EMAIL.withResources("site:1"))))
        .isEqualTo(Reason.RESOURCE_PASSING_ON);
  }

  @Test
  void it_is_kept_for_a_job_that_waited_too_long() {
    enqueue(EMAIL.withResources("b"));
    Lease holder = claim(1).getFirst();
    enqueue(EMAIL.withResources("a", "b"));
    claim(1);
    tenant.advance(Duration.ofSeconds(61));
    leases().extend(java.util.List.of(holder));
    tenant.execute("UPDATE {schema}.job SET waiting_on = NULL WHERE state = 'queued'");
    claim(1);

    assertThat(reason(enqueue(EMAIL.withResources("a")))).isEqualTo(Reason.RESOURCE_RESERVED);
  }

  @Test
  void no_worker_serves_its_kind_queue_host_or_labels() {
    assertThat(reason(enqueue(NewJob.of("fax", 1)))).isEqualTo(Reason.NO_WORKER);
    assertThat(reason(enqueue(EMAIL.withQueue("other")))).isEqualTo(Reason.NO_WORKER);
    assertThat(reason(enqueue(EMAIL.withPlacement(Placement.requiring("host-9")))))
        .isEqualTo(Reason.NO_WORKER);
    assertThat(reason(enqueue(EMAIL.withLabels(Map.of("gpu", "no"))))).isEqualTo(Reason.NO_WORKER);
    assertThat(reason(enqueue(EMAIL.withLabels(Map.of("gpu", "yes"))))).isEqualTo(Reason.CLAIMABLE);
  }

  private Reason reason(UUID id) {
    return tenant.jobs().why(id).reason();
  }
}
