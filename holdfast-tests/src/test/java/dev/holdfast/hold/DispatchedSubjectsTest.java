package dev.holdfast.hold;

import static org.assertj.core.api.Assertions.assertThat;

import dev.holdfast.job.Failure;
import dev.holdfast.job.JobState;
import dev.holdfast.job.NewJob;
import dev.holdfast.job.Outcome;
import dev.holdfast.job.Policy.OnLeaseLost;
import dev.holdfast.job.PolicyOverrides;
import dev.holdfast.job.Subject;
import dev.holdfast.lease.ClaimRequest;
import dev.holdfast.lease.Extension.Status;
import dev.holdfast.lease.Lease;
import dev.holdfast.subject.SubjectState;
import dev.holdfast.testkit.Covers;
import java.time.Duration;
import java.util.List;
import java.util.Set;
import java.util.UUID;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/**
 * Subjects of jobs whose worker says when it starts them. An earlier job left the subject active.
 */
@Covers("A13")
class DispatchedSubjectsTest extends EngineRig {

  // No resource keeps two jobs of one subject apart.
  private static final NewJob DEPLOY =
      NewJob.of("env_deploy", 1).withSubject(Subject.of("environment", "7", "deploying"));

  private UUID earlier = new UUID(0, 0);

  @BeforeEach
  void anEarlierJobSucceeds() {
    earlier = enqueue(DEPLOY);
    succeed(claim(1).getFirst());
  }

  @Test
  void a_subject_is_in_progress_from_the_start_of_its_job_and_not_from_its_dispatch() {
    UUID id = enqueue(DEPLOY);

    Lease lease = dispatch();
    isLeftAlone();
    start(lease);

    isIn("deploying", id);
    succeed(lease);
    isIn("active", id);
  }

  @Test
  void a_subject_of_a_job_cancelled_by_force_before_its_start_is_left_alone() {
    UUID id = enqueue(DEPLOY);
    Lease lease = dispatch();

    tenant.acts().cancel(id, ADA.withForce());

    assertThat(startOf(lease)).isEqualTo(Status.LOST);
    assertThat(tenant.job(id).state()).isEqualTo(JobState.CANCELLED);
    isLeftAlone();
  }

  @Test
  void a_subject_of_a_job_declared_failed_before_its_start_is_left_alone() {
    UUID id = enqueue(DEPLOY);
    Lease unused = dispatch();

    tenant.acts().fail(id, ADA);

    assertThat(tenant.job(id).state()).isEqualTo(JobState.FAILED);
    isLeftAlone();
  }

  @Test
  void a_subject_of_a_job_that_its_worker_stopped_before_its_start_is_left_alone() {
    UUID id = enqueue(DEPLOY);
    Lease lease = dispatch();

    tenant.acts().cancel(id, ADA);
    assertThat(startOf(lease)).isEqualTo(Status.STOP_REQUESTED);
    finish(lease, new Outcome.Stopped());

    assertThat(tenant.job(id).state()).isEqualTo(JobState.CANCELLED);
    isLeftAlone();
  }

  @Test
  void a_subject_of_a_job_whose_worker_is_lost_before_its_start_is_left_alone() {
    UUID id = enqueue(DEPLOY.withPolicy(PolicyOverrides.NONE.withOnLeaseLost(OnLeaseLost.FAIL)));
    Lease unused = dispatch();

    tenant.acts().stop(id, ADA);
    tenant.advance(Duration.ofMinutes(1));
    reap();

    assertThat(tenant.job(id).state()).isEqualTo(JobState.FAILED);
    isLeftAlone();
  }

  @Test
  void a_subject_of_a_job_cancelled_after_nobody_started_it_is_left_alone() {
    UUID id = enqueue(DEPLOY);
    Lease unused = dispatch();
    tenant.advance(Duration.ofMinutes(1));
    reap();
    assertThat(tenant.job(id).state()).isEqualTo(JobState.QUEUED);
    isLeftAlone();

    tenant.acts().cancel(id, ADA);

    isLeftAlone();
  }

  @Test
  void a_subject_of_a_job_cancelled_after_it_was_given_back_unstarted_is_left_alone() {
    UUID id = enqueue(DEPLOY);
    finish(dispatch(), new Outcome.Released("no room"));

    tenant.acts().cancel(id, ADA);

    isLeftAlone();
  }

  @Test
  void a_subject_of_a_job_cancelled_after_it_was_requeued_unstarted_is_left_alone() {
    UUID id = enqueue(DEPLOY);
    Lease unused = dispatch();

    tenant.acts().requeue(id, ADA);
    tenant.acts().cancel(id, ADA);

    isLeftAlone();
  }

  @Test
  void a_subject_of_a_job_that_was_started_once_fails_with_it_before_the_next_start() {
    UUID id = enqueue(DEPLOY);
    Lease first = dispatch();
    start(first);
    finish(first, Outcome.failed(Failure.retryable("FLAKY", "again")));
    tenant.advance(Duration.ofHours(1));
    Lease unused = dispatch();
    isIn("deploying", id);

    tenant.acts().cancel(id, ADA.withForce());

    isIn("failed", id);
  }

  @Test
  void a_subject_that_a_later_job_moved_is_left_alone_when_an_earlier_ones_retry_is_cancelled() {
    UUID id = enqueue(DEPLOY);
    finish(claim(1).getFirst(), Outcome.failed(Failure.retryable("FLAKY", "again")));
    UUID later = enqueue(DEPLOY);
    succeed(claim(1).getFirst());

    tenant.acts().cancel(id, ADA);

    isIn("active", later);
  }

  @Test
  void a_worker_that_reports_a_failure_without_a_start_has_worked() {
    UUID id = enqueue(DEPLOY);

    finish(dispatch(), Outcome.failed(Failure.permanent("BROKEN", "no")));

    isIn("failed", id);
  }

  private Lease dispatch() {
    ClaimRequest request = ClaimRequest.of("worker", Set.of("default"), 1).acknowledging();
    return leases().claim(request).leases().getFirst();
  }

  private void start(Lease lease) {
    assertThat(startOf(lease)).isEqualTo(Status.EXTENDED);
  }

  private Status startOf(Lease lease) {
    return tenant.leases().remote().start(lease.worker(), List.of(lease.key())).getFirst().status();
  }

  private void isLeftAlone() {
    isIn("active", earlier);
  }

  private void isIn(String state, UUID job) {
    SubjectState now =
        tenant.holdfast().subjects(tenant.name()).get("environment", "7").orElseThrow();
    assertThat(now.state()).isEqualTo(state);
    assertThat(now.jobId()).isEqualTo(job);
  }
}
