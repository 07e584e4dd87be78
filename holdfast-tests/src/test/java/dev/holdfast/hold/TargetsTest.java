package dev.holdfast.hold;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.groups.Tuple.tuple;

import dev.holdfast.audit.AuditRecord;
import dev.holdfast.error.HoldfastException;
import dev.holdfast.hold.ResourceState.Blocker;
import dev.holdfast.job.Failure;
import dev.holdfast.job.JobState;
import dev.holdfast.job.NewJob;
import dev.holdfast.job.Outcome;
import dev.holdfast.job.Policy.OnFailure;
import dev.holdfast.job.Policy.OnStop;
import dev.holdfast.job.PolicyOverrides;
import dev.holdfast.lease.Lease;
import dev.holdfast.testkit.Covers;
import java.util.Collections;
import java.util.List;
import java.util.UUID;
import java.util.stream.Stream;
import org.jdbi.v3.core.Handle;
import org.junit.jupiter.api.Test;

class TargetsTest extends EngineRig {

  private static final NewJob CALL =
      NewJob.of("call", 1)
          .withTarget("crm")
          .withPolicy(
              PolicyOverrides.NONE
                  .withMaxAttempts(1)
                  .withOnStop(OnStop.PAUSE)
                  .withOnFailure(OnFailure.HOLD));

  @Covers("B3")
  @Test
  void jobs_of_a_target_run_one_after_the_other_oldest_first() {
    UUID first = enqueue(CALL);
    UUID second = enqueue(CALL);
    UUID elsewhere = enqueue(CALL.withTarget("shop"));

    List<Lease> claimed = claim(10);

    assertThat(ids(claimed)).containsExactly(first, elsewhere);
    succeed(claimed.getFirst());
    assertThat(ids(claim(10))).containsExactly(second);
  }

  @Test
  void what_a_claim_reads_does_not_grow_with_the_capacity_of_its_target() {
    tenant.resources().setCapacity("target:crm", 1_000_000, ADA);
    tenant.jobs().enqueueAll(Collections.nCopies(5_000, CALL));
    Waiting waiting = new Holds(tenant.tenant().db()).waiting();

    long read =
        tenant
            .tenant()
            .db()
            .inTransaction(handle -> {
              long before = rowsRead(handle); // by whoever had this connection a moment ago
              Rooms unused = waiting.rooms(handle, List.of("target:crm"));
              return rowsRead(handle) - before;
            });

    assertThat(read).as("rows of jobs").isBetween(1_000L, 1_100L);
  }

  private long rowsRead(Handle handle) {
    return handle
        .createQuery(
            tenant
                .tenant()
                .db()
                .sql(
                    """
                    SELECT coalesce(sum(seq_tup_read + idx_tup_fetch), 0)
                      FROM pg_stat_xact_user_tables
                     WHERE relid = '{schema}.job'::regclass
                    """))
        .mapTo(Long.class)
        .one();
  }

  @Test
  void a_target_with_room_for_two_is_filled_again_after_both_have_ended() {
    tenant.resources().setCapacity("target:crm", 2, ADA);
    List<UUID> jobs = Stream.generate(() -> enqueue(CALL)).limit(5).toList();
    List<Lease> firstTwo = claim(10);
    assertThat(ids(firstTwo)).containsExactlyElementsOf(jobs.subList(0, 2));
    firstTwo.forEach(this::succeed);

    assertThat(ids(claim(1))).containsExactly(jobs.get(2));

    assertThat(tenant.job(jobs.get(3)).waitingOn()).isEmpty();
    assertThat(ids(claim(10))).containsExactly(jobs.get(3));
  }

  @Covers("B3")
  @Test
  void a_worker_that_does_not_serve_the_oldest_job_does_not_take_a_younger_one() {
    UUID oldest = enqueue(NewJob.of("other", 1).withTarget("crm"));
    UUID younger = enqueue(CALL);

    assertThat(claimKind("call", 10)).isEmpty();

    assertThat(ids(claim(10))).containsExactly(oldest);
    assertThat(tenant.job(younger).waitingOn()).contains("target:crm");
  }

  @Test
  void the_oldest_job_keeps_its_turn_while_it_waits_for_something_else() {
    enqueue(NewJob.of("call", 1).withResources("node:1"));
    Lease node = claim(1).getFirst();
    UUID oldest = enqueue(CALL.withResources("node:1"));
    UUID younger = enqueue(CALL);

    assertThat(claim(10)).isEmpty();
    succeed(node);

    Lease next = claim(10).getFirst();
    assertThat(next.key().jobId()).isEqualTo(oldest);
    succeed(next);
    assertThat(next()).contains(younger);
  }

  @Covers({"B3", "B12"})
  @Test
  void a_failed_job_that_holds_blocks_its_target_and_nothing_else() {
    UUID failed = enqueue(CALL);
    UUID waiting = enqueue(CALL);
    UUID elsewhere = enqueue(CALL.withTarget("shop"));
    finish(claim(1).getFirst(), Outcome.failed(Failure.permanent("DOWN", "no answer")));

    assertThat(ids(claim(10))).containsExactly(elsewhere);

    assertThat(tenant.job(failed).state()).isEqualTo(JobState.FAILED);
    assertThat(tenant.job(waiting).waitingOn()).contains("target:crm");
    Blocker blocker = tenant.resources().get("target:crm").blocks().getFirst();
    assertThat(blocker.jobId()).isEqualTo(failed);
    assertThat(blocker.reason()).isEqualTo("failed");
  }

  @Covers("B12")
  @Test
  void a_resumed_job_runs_again_before_the_others_and_frees_its_target_in_the_end() {
    UUID failed = enqueue(CALL);
    UUID waiting = enqueue(CALL);
    Lease first = claim(1).getFirst();
    finish(first, Outcome.failed(Failure.permanent("DOWN", "no answer")));
    assertThat(claim(10)).isEmpty();

    tenant.acts().resume(failed, ADA.because("it is up again"));

    Lease again = claim(10).getFirst();
    assertThat(again.key().jobId()).isEqualTo(failed);
    assertThat(again.key().fence()).isGreaterThan(first.key().fence());
    assertThat(again.attempt().number()).isEqualTo(2);
    succeed(again);
    assertThat(next()).contains(waiting);
    assertThat(tenant.jobs().attempts(failed)).hasSize(2);
  }

  @Covers("B12")
  @Test
  void a_resolved_job_has_succeeded_with_the_given_result_and_frees_its_target() {
    UUID failed = enqueue(CALL);
    UUID waiting = enqueue(CALL);
    finish(claim(1).getFirst(), Outcome.failed(Failure.permanent("DOWN", "no answer")));
    claim(10);

    tenant.acts().resolve(failed, "done by hand", ADA);

    assertThat(tenant.job(failed).state()).isEqualTo(JobState.SUCCEEDED);
    assertThat(tenant.job(failed).result().orElseThrow().json()).isEqualTo("\"done by hand\"");
    assertThat(next()).contains(waiting);
    assertThat(tenant.jobs().attempts(failed))
        .extracting(attempt -> attempt.outcome())
        .containsExactly("failed");
  }

  @Covers("B12")
  @Test
  void a_stopped_job_is_paused_and_blocks_until_it_is_cancelled() {
    UUID stopped = enqueue(CALL);
    UUID waiting = enqueue(CALL);
    Lease running = claim(1).getFirst();
    tenant.acts().stop(stopped, ADA);
    finish(running, new Outcome.Stopped());
    assertThat(tenant.job(stopped).state()).isEqualTo(JobState.PAUSED);
    assertThat(claim(10)).isEmpty();

    tenant.acts().cancel(stopped, ADA);

    assertThat(tenant.job(stopped).state()).isEqualTo(JobState.CANCELLED);
    assertThat(next()).contains(waiting);
  }

  @Test
  void a_job_paused_while_another_of_its_target_runs_blocks_beside_it() {
    UUID running = enqueue(CALL);
    UUID paused = enqueue(CALL);
    UUID waiting = enqueue(CALL);
    Lease lease = claim(10).getFirst();
    assertThat(lease.key().jobId()).isEqualTo(running);

    tenant.acts().pause(paused, ADA);
    succeed(lease);

    assertThat(claim(10)).isEmpty();
    assertThat(tenant.resources().get("target:crm").blocks())
        .extracting(Blocker::jobId, Blocker::actor)
        .containsExactly(tuple(paused, "ada"));
    tenant.acts().resume(paused, ADA);
    Lease resumed = claim(10).getFirst();
    assertThat(resumed.key().jobId()).isEqualTo(paused);
    succeed(resumed);
    assertThat(next()).contains(waiting);
  }

  @Test
  void a_running_job_that_is_paused_ends_paused_whatever_its_policy_says() {
    UUID id = enqueue(NewJob.of("call", 1));
    Lease lease = claim(1).getFirst();

    tenant.acts().pause(id, ADA);
    finish(lease, new Outcome.Stopped());

    assertThat(tenant.job(id).state()).isEqualTo(JobState.PAUSED);
    assertThat(tenant.job(id).errorMessage()).contains("Job was interrupted by user");
  }

  @Test
  void a_running_job_that_is_cancelled_ends_cancelled_whatever_its_policy_says() {
    UUID id = enqueue(CALL);
    Lease lease = claim(1).getFirst();

    tenant.acts().cancel(id, ADA);
    finish(lease, new Outcome.Stopped());

    assertThat(tenant.job(id).state()).isEqualTo(JobState.CANCELLED);
  }

  @Test
  void several_jobs_can_block_a_target_and_each_has_to_be_seen_to() {
    UUID one = enqueue(CALL);
    UUID two = enqueue(CALL);
    UUID waiting = enqueue(CALL);
    tenant.acts().pause(one, ADA);
    tenant.acts().pause(two, ADA);
    assertThat(claim(10)).isEmpty();

    tenant.acts().cancel(one, ADA);
    assertThat(claim(10)).isEmpty();
    tenant.acts().cancel(two, ADA);

    assertThat(next()).contains(waiting);
  }

  @Test
  void an_admin_can_release_a_target_and_it_is_on_record() {
    UUID failed = enqueue(CALL);
    UUID waiting = enqueue(CALL);
    finish(claim(1).getFirst(), Outcome.failed(Failure.permanent("DOWN", "no answer")));
    assertThat(claim(10)).isEmpty();

    ResourceState after = tenant.resources().release("target:crm", ADA.because("known"));

    assertThat(after.blocks()).isEmpty();
    assertThat(tenant.job(failed).state()).isEqualTo(JobState.FAILED);
    assertThat(next()).contains(waiting);
    AuditRecord record = tenant.holdfast().audit(tenant.name()).latest(1).getFirst();
    assertThat(record.actor()).isEqualTo("ada");
    assertThat(record.act()).isEqualTo("release");
    assertThat(record.resource()).contains("target:crm");
    assertThat(record.reason()).contains("known");
  }

  @Test
  void every_act_is_recorded_with_the_states_before_and_after() {
    UUID id = enqueue(CALL);

    tenant.acts().pause(id, ADA.because("wait"));
    tenant.acts().resume(id, ADA);
    tenant.acts().cancel(id, ADA);

    assertThat(tenant.holdfast().audit(tenant.name()).ofJob(id))
        .extracting(AuditRecord::act, r -> r.before().orElse(""), r -> r.after().orElse(""))
        .containsExactly(
            tuple("pause", "queued", "paused"),
            tuple("resume", "paused", "queued"),
            tuple("cancel", "queued", "cancelled"));
  }

  @Test
  void an_act_that_the_state_does_not_allow_is_refused_and_leaves_no_trace() {
    UUID id = enqueue(CALL);

    assertThatThrownBy(() -> tenant.acts().resume(id, ADA))
        .isInstanceOf(HoldfastException.class)
        .hasMessageContaining("queued");
    assertThat(tenant.holdfast().audit(tenant.name()).ofJob(id)).isEmpty();
  }

  @Test
  void a_target_may_be_given_as_a_resource_but_only_one() {
    UUID id = enqueue(NewJob.of("call", 1).withResources("target:crm"));

    assertThat(tenant.job(id).needs().target()).contains("crm");
    assertThatThrownBy(() -> CALL.withResources("target:shop"))
        .isInstanceOf(HoldfastException.class)
        .hasMessageContaining("at most one target");
  }
}
