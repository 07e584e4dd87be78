package dev.holdfast.act;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.groups.Tuple.tuple;

import com.zaxxer.hikari.HikariConfig;
import com.zaxxer.hikari.HikariDataSource;
import dev.holdfast.Holdfast;
import dev.holdfast.audit.Act;
import dev.holdfast.audit.AuditRecord;
import dev.holdfast.error.ErrorCode;
import dev.holdfast.error.HoldfastException;
import dev.holdfast.hold.EngineRig;
import dev.holdfast.hold.Holds;
import dev.holdfast.job.AttemptRecord;
import dev.holdfast.job.Failure;
import dev.holdfast.job.JobAct;
import dev.holdfast.job.JobState;
import dev.holdfast.job.NewJob;
import dev.holdfast.job.Outcome;
import dev.holdfast.job.Policy.OnFailure;
import dev.holdfast.job.Policy.OnStop;
import dev.holdfast.job.PolicyOverrides;
import dev.holdfast.lease.FinishReply;
import dev.holdfast.lease.Lease;
import dev.holdfast.queue.Changes;
import dev.holdfast.testkit.Covers;
import dev.holdfast.testkit.TestDatabase;
import java.sql.Connection;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Set;
import java.util.UUID;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;

class ActsTest extends EngineRig {

  private static final NewJob JOB =
      NewJob.of("call", 1).withPolicy(PolicyOverrides.NONE.withMaxAttempts(1));

  @Test
  void an_act_that_is_meant_for_another_state_than_the_job_is_in_changes_nothing() {
    UUID id = enqueue(JOB);
    Act meantForWaiting = ADA.withForce().onlyIn(Set.of(JobState.QUEUED, JobState.PENDING));
    Lease claimedMeanwhile = claim(1).getFirst();

    assertThatThrownBy(() -> tenant.acts().fail(id, meantForWaiting))
        .isInstanceOf(HoldfastException.class)
        .extracting(e -> ((HoldfastException) e).code())
        .isEqualTo(ErrorCode.STATE_CONFLICT);

    assertThat(tenant.job(id).state()).isEqualTo(JobState.RUNNING);
    assertThat(finish(claimedMeanwhile, Outcome.succeeded()))
        .isEqualTo(new FinishReply.Recorded(JobState.SUCCEEDED));
  }

  static Stream<Arguments> every_act_in_every_state() {
    return Stream.of(JobAct.values())
        .flatMap(act ->
            Stream.of(JobState.values())
                .flatMap(
                    state -> Stream.of(false, true).map(force -> Arguments.of(act, state, force))));
  }

  @Covers("A15")
  @ParameterizedTest
  @MethodSource("every_act_in_every_state")
  void an_act_does_what_the_table_allows_and_is_recorded_or_changes_nothing(
      JobAct act, JobState state, boolean force) {
    UUID id = jobIn(state);
    int recorded = audit(id).size();
    Act who = force ? ADA.withForce() : ADA;

    if (!act.isAllowed(state, force)) {
      assertThatThrownBy(() -> perform(act, id, who))
          .isInstanceOfSatisfying(
              HoldfastException.class,
              refused -> assertThat(refused.code()).isEqualTo(ErrorCode.STATE_CONFLICT))
          .hasMessageContaining(state.stored());
      assertThat(tenant.job(id).state()).isEqualTo(state);
      assertThat(audit(id)).hasSize(recorded);
      return;
    }
    perform(act, id, who);

    if (act == JobAct.DELETE) {
      assertThat(tenant.jobs().get(id)).isEmpty();
      assertThat(tenant.jobs().attempts(id)).isEmpty();
    } else {
      assertThat(tenant.job(id).state()).isEqualTo(after(act, state, force));
    }
    AuditRecord last = audit(id).getLast();
    assertThat(last.act()).isEqualTo(act.stored());
    assertThat(last.before()).contains(state.stored());
  }

  private static JobState after(JobAct act, JobState state, boolean force) {
    return switch (act) {
      case CANCEL -> state.isLeased() && !force ? JobState.STOPPING : JobState.CANCELLED;
      case STOP -> state.isLeased() ? JobState.STOPPING : JobState.CANCELLED;
      case PAUSE -> state.isLeased() ? JobState.STOPPING : JobState.PAUSED;
      case RESUME, RETRY, REQUEUE -> JobState.QUEUED;
      case FAIL -> JobState.FAILED;
      case RESOLVE -> JobState.SUCCEEDED;
      case CHANGE -> state;
      case DELETE -> throw new AssertionError("there is no job any more");
    };
  }

  private void perform(JobAct act, UUID id, Act who) {
    switch (act) {
      case CANCEL -> tenant.acts().cancel(id, who);
      case STOP -> tenant.acts().stop(id, who);
      case PAUSE -> tenant.acts().pause(id, who);
      case RESUME -> tenant.acts().resume(id, who);
      case RETRY -> tenant.acts().retry(id, who);
      case REQUEUE -> tenant.acts().requeue(id, who);
      case FAIL -> tenant.acts().fail(id, who);
      case RESOLVE -> tenant.acts().resolve(id, "by hand", who);
      case CHANGE -> tenant.acts().change(id, Changes.NONE.withPriority(3), who);
      case DELETE -> tenant.acts().delete(id, who);
    }
  }

  private UUID jobIn(JobState state) {
    if (state == JobState.PENDING) {
      return enqueue(JOB.asPending());
    }
    UUID id = enqueue(JOB);
    switch (state) {
      case PENDING, QUEUED -> {}
      case RUNNING -> claim(1);
      case DISPATCHED -> {
        claim(1);
        tenant.execute("UPDATE {schema}.job SET state = 'dispatched'");
      }
      case STOPPING -> {
        claim(1);
        tenant.acts().stop(id, ADA);
      }
      case PAUSED -> tenant.acts().pause(id, ADA);
      case SUCCEEDED -> succeed(claim(1).getFirst());
      case FAILED -> finish(claim(1).getFirst(), Outcome.failed(Failure.permanent("X", "y")));
      case CANCELLED -> tenant.acts().cancel(id, ADA);
    }
    return id;
  }

  @Test
  void a_retried_job_keeps_its_id_and_history_and_runs_under_a_larger_fence() {
    UUID id = jobIn(JobState.FAILED);
    long before = tenant.job(id).fence();

    tenant.acts().retry(id, ADA);

    Lease again = claim(1).getFirst();
    assertThat(again.key().jobId()).isEqualTo(id);
    assertThat(again.key().fence()).isGreaterThan(before);
    succeed(again);
    assertThat(tenant.jobs().attempts(id))
        .extracting(AttemptRecord::number, AttemptRecord::outcome)
        .containsExactly(tuple(1, "failed"), tuple(2, "succeeded"));
  }

  @Test
  void a_job_taken_from_its_worker_by_force_is_lost_to_it_and_keeps_what_it_held_for_a_while() {
    UUID id = enqueue(JOB.withResources("site:1"));
    Lease running = claim(1).getFirst();

    tenant.acts().requeue(id, ADA.withForce());

    assertThat(tenant.job(id).state()).isEqualTo(JobState.QUEUED);
    assertThat(tenant.job(id).attempt()).isZero();
    assertThat(claim(1)).isEmpty(); // its first worker may still be at it
    assertThat(finish(running, Outcome.succeeded())).isEqualTo(new FinishReply.Lost());
    assertThat(next()).contains(id); // now it said that it is not
  }

  @Test
  void what_a_job_failed_by_hand_held_passes_on_after_lease_and_grace() {
    UUID id = enqueue(JOB.withResources("site:1"));
    claim(1);
    UUID waiting = enqueue(JOB.withResources("site:1"));

    tenant.acts().fail(id, ADA.because("hangs"));

    assertThat(tenant.job(id).errorMessage()).contains("hangs");
    assertThat(claim(1)).isEmpty();
    tenant.advance(Duration.ofSeconds(30).plus(Holds.KILL_GRACE));
    reap();
    assertThat(next()).contains(waiting);
  }

  @Test
  void a_job_failed_by_hand_keeps_its_target_when_its_policy_says_so() {
    UUID id =
        enqueue(
            JOB.withTarget("crm").withPolicy(PolicyOverrides.NONE.withOnFailure(OnFailure.HOLD)));
    enqueue(JOB.withTarget("crm"));

    tenant.acts().fail(id, ADA.withForce());

    assertThat(claim(10)).isEmpty();
    assertThat(tenant.resources().get("target:crm").blocks()).hasSize(1);
  }

  @Test
  void a_waiting_job_that_is_stopped_ends_as_its_policy_says() {
    UUID pauses = enqueue(JOB.withPolicy(PolicyOverrides.NONE.withOnStop(OnStop.PAUSE)));

    tenant.acts().stop(pauses, ADA);
    tenant.acts().stop(pauses, ADA); // again: it is where it was to be

    assertThat(tenant.job(pauses).state()).isEqualTo(JobState.PAUSED);
  }

  @Test
  void a_reprioritised_and_rescheduled_job_takes_its_new_place() {
    UUID first = enqueue(JOB);
    UUID second = enqueue(JOB);
    UUID third = enqueue(JOB);
    Instant anHourAgo = tenant.job(first).runAt().minus(Duration.ofHours(1));

    tenant.acts().change(second, Changes.NONE.withRunAt(anHourAgo), ADA);
    tenant.acts().change(third, Changes.NONE.withPriority(-1).withTags(List.of("now")), ADA);

    assertThat(ids(claim(3))).containsExactly(third, second, first);
    assertThat(tenant.job(third).tags()).containsExactly("now");
    assertThat(tenant.job(third).priority()).isEqualTo(-1);
  }

  @Test
  void a_change_takes_one_connection_also_when_it_makes_a_lane() {
    UUID id = enqueue(JOB);
    HikariConfig config = new HikariConfig();
    config.setJdbcUrl(TestDatabase.shared().jdbcUrl());
    config.setMaximumPoolSize(1);
    config.setConnectionTimeout(2_000);

    try (HikariDataSource one = new HikariDataSource(config)) {
      Holdfast.on(one).acts(tenant.name()).change(id, Changes.NONE.withPriority(77), ADA);
    }

    assertThat(tenant.job(id).priority()).isEqualTo(77);
  }

  @Test
  void a_job_whose_work_may_be_going_on_is_not_deleted() {
    UUID id = enqueue(JOB.withResources("site:1"));
    Lease running = claim(1).getFirst();
    tenant.acts().cancel(id, ADA.withForce());

    assertThatThrownBy(() -> tenant.acts().delete(id, ADA.withForce()))
        .isInstanceOf(HoldfastException.class)
        .hasMessageContaining("may still be at it");
    assertThat(tenant.invariants().check()).isEmpty();

    finish(running, new Outcome.Stopped()); // refused, but now it is known to be over
    tenant.acts().delete(id, ADA);
    assertThat(tenant.invariants().check()).isEmpty();
  }

  @Test
  void a_job_does_not_wait_for_an_open_transaction_that_may_have_its_unique_key() throws Exception {
    UUID id = enqueue(JOB.withUniqueKey("k").withResources("site:1"));
    finish(claim(1).getFirst(), Outcome.failed(Failure.permanent("NO", "no")));
    Lease beside = claimedOn("site:1");
    try (Connection open = TestDatabase.shared().dataSource().getConnection()) {
      open.setAutoCommit(false);
      tenant.jobs().enqueue(open, JOB.withUniqueKey("k"));

      assertThatThrownBy(() -> tenant.acts().retry(id, ADA))
          .isInstanceOf(HoldfastException.class)
          .hasMessageContaining("just enqueueing");
      assertThat(finish(beside, Outcome.succeeded()))
          .isEqualTo(new FinishReply.Recorded(JobState.SUCCEEDED));
      open.rollback();
    }

    assertThat(tenant.acts().retry(id, ADA).state()).isEqualTo(JobState.QUEUED);
  }

  private Lease claimedOn(String resource) {
    enqueue(NewJob.of("other", 1).withResources(resource));
    return claim(1).getFirst();
  }

  @Test
  void a_job_cannot_come_back_beside_another_with_its_unique_key() {
    UUID id = enqueue(JOB.withUniqueKey("k"));
    succeed(claim(1).getFirst());
    enqueue(JOB.withUniqueKey("k"));

    assertThatThrownBy(() -> tenant.acts().requeue(id, ADA.withForce()))
        .isInstanceOf(HoldfastException.class)
        .hasMessageContaining("unique key");
    assertThat(tenant.job(id).state()).isEqualTo(JobState.SUCCEEDED);
  }

  @Test
  void a_job_that_is_not_there_is_not_found() {
    assertThatThrownBy(() -> tenant.acts().cancel(UUID.randomUUID(), ADA))
        .isInstanceOfSatisfying(
            HoldfastException.class,
            missing -> assertThat(missing.code()).isEqualTo(ErrorCode.NOT_FOUND));
  }

  private List<AuditRecord> audit(UUID id) {
    return tenant.holdfast().audit(tenant.name()).ofJob(id);
  }
}
