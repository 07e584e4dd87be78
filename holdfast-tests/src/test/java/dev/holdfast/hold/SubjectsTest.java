package dev.holdfast.hold;

import static org.assertj.core.api.Assertions.assertThat;

import dev.holdfast.job.Failure;
import dev.holdfast.job.NewJob;
import dev.holdfast.job.Outcome;
import dev.holdfast.job.Policy.OnLeaseLost;
import dev.holdfast.job.PolicyOverrides;
import dev.holdfast.job.Subject;
import dev.holdfast.lease.Lease;
import dev.holdfast.subject.SubjectState;
import dev.holdfast.testkit.Covers;
import java.time.Duration;
import java.util.Optional;
import java.util.UUID;
import org.junit.jupiter.api.Test;

@Covers("A13")
class SubjectsTest extends EngineRig {

  private static final NewJob DEPLOY =
      NewJob.of("env_deploy", 1)
          .withResources("site:1")
          .withSubject(Subject.of("environment", "7", "deploying"));

  @Test
  void a_subject_is_in_progress_while_its_job_runs_and_active_after_its_success() {
    UUID id = enqueue(DEPLOY);
    assertThat(state()).isEmpty();

    Lease lease = claim(1).getFirst();
    assertThat(state()).contains("deploying");
    succeed(lease);

    assertThat(state()).contains("active");
    assertThat(subject().orElseThrow().jobId()).isEqualTo(id);
  }

  @Test
  void a_subject_keeps_its_state_while_a_retry_waits_and_fails_with_the_last_attempt() {
    enqueue(DEPLOY.withPolicy(PolicyOverrides.NONE.withMaxAttempts(2)));
    finish(claim(1).getFirst(), Outcome.failed(Failure.retryable("FLAKY", "again")));
    assertThat(state()).contains("deploying");

    tenant.advance(Duration.ofHours(1));
    finish(claim(1).getFirst(), Outcome.failed(Failure.retryable("FLAKY", "again")));

    assertThat(state()).contains("failed");
  }

  @Test
  void a_subject_fails_when_its_jobs_worker_is_lost_for_good() {
    enqueue(DEPLOY.withPolicy(PolicyOverrides.NONE.withOnLeaseLost(OnLeaseLost.FAIL)));
    claim(1);
    tenant.advance(Duration.ofMinutes(1));

    reap();

    assertThat(state()).contains("failed");
  }

  @Test
  void a_subject_of_a_job_cancelled_while_it_ran_has_failed() {
    UUID id = enqueue(DEPLOY);
    Lease lease = claim(1).getFirst();

    tenant.acts().cancel(id, ADA);
    finish(lease, new Outcome.Stopped());

    assertThat(state()).contains("failed");
  }

  @Test
  void a_subject_of_a_job_cancelled_while_its_retry_waited_has_failed() {
    UUID id = enqueue(DEPLOY);
    finish(claim(1).getFirst(), Outcome.failed(Failure.retryable("FLAKY", "again")));

    tenant.acts().cancel(id, ADA);

    assertThat(state()).contains("failed");
  }

  @Test
  void a_subject_of_a_job_cancelled_after_its_attempt_was_given_back_has_failed() {
    UUID id = enqueue(DEPLOY);
    finish(claim(1).getFirst(), Outcome.snoozed(Duration.ofMinutes(5)));
    assertThat(tenant.job(id).attempt()).isZero();

    tenant.acts().cancel(id, ADA);

    assertThat(state()).contains("failed");
  }

  @Test
  void a_subject_of_a_job_cancelled_before_its_start_is_left_alone() {
    UUID first = enqueue(DEPLOY);
    succeed(claim(1).getFirst());
    UUID second = enqueue(DEPLOY);

    tenant.acts().cancel(second, ADA);

    assertThat(state()).contains("active");
    assertThat(subject().orElseThrow().jobId()).isEqualTo(first);
  }

  @Test
  void a_subject_of_a_resolved_job_is_active() {
    UUID id = enqueue(DEPLOY.withPolicy(PolicyOverrides.NONE.withMaxAttempts(1)));
    finish(claim(1).getFirst(), Outcome.failed(Failure.permanent("BROKEN", "no")));

    tenant.acts().resolve(id, "by hand", ADA);

    assertThat(state()).contains("active");
  }

  @Test
  void a_job_without_a_state_for_its_subject_leaves_it_alone() {
    enqueue(
        NewJob.of("health_check", 1)
            .withSubject(new Subject("environment", "7", Optional.empty())));

    succeed(claim(1).getFirst());

    assertThat(state()).isEmpty();
  }

  private Optional<SubjectState> subject() {
    return tenant.holdfast().subjects(tenant.name()).get("environment", "7");
  }

  private Optional<String> state() {
    return subject().map(SubjectState::state);
  }
}
