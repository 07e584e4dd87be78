package dev.holdfast.attempt;

import static org.assertj.core.api.Assertions.assertThat;

import dev.holdfast.hold.EngineRig;
import dev.holdfast.job.AttemptRecord;
import dev.holdfast.job.Failure;
import dev.holdfast.job.Job;
import dev.holdfast.job.JobState;
import dev.holdfast.job.NewJob;
import dev.holdfast.job.Outcome;
import dev.holdfast.job.Policy.OnLeaseLost;
import dev.holdfast.job.PolicyOverrides;
import dev.holdfast.job.RetryPolicy;
import dev.holdfast.lease.FinishReply;
import dev.holdfast.lease.Lease;
import dev.holdfast.testkit.Covers;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Optional;
import java.util.UUID;
import org.junit.jupiter.api.Test;

/** What becomes of jobs whose attempts fail, by the rows and the database's clock. */
class RetriesTest extends EngineRig {

  private static final Outcome FLAKY = Outcome.failed(Failure.retryable("FLAKY", "try again"));

  @Covers({"A8", "A12"})
  @Test
  void a_job_has_three_attempts_and_waits_one_and_then_five_minutes_between_them() {
    UUID id = enqueue(NewJob.of("deploy", 1));

    assertThat(failAndMeasureDelay(id)).contains(Duration.ofMinutes(1));
    assertThat(failAndMeasureDelay(id)).contains(Duration.ofMinutes(5));
    assertThat(failAndMeasureDelay(id)).isEmpty();

    assertThat(tenant.job(id).state()).isEqualTo(JobState.FAILED);
    assertThat(tenant.jobs().attempts(id)).hasSize(3);
  }

  @Covers("A8")
  @Test
  void a_third_retry_waits_a_quarter_of_an_hour() {
    UUID id = enqueue(NewJob.of("deploy", 1).withPolicy(PolicyOverrides.NONE.withMaxAttempts(4)));
    failAndMeasureDelay(id);
    failAndMeasureDelay(id);

    assertThat(failAndMeasureDelay(id)).contains(Duration.ofMinutes(15));
  }

  @Covers("A9")
  @Test
  void a_failure_that_is_not_to_be_retried_ends_the_job_on_its_first_attempt() {
    UUID id = enqueue(NewJob.of("deploy", 1));

    finish(claim(1).getFirst(), Outcome.failed(Failure.permanent("NO_SUCH_SITE", "site 7")));

    assertThat(tenant.job(id).state()).isEqualTo(JobState.FAILED);
    assertThat(tenant.job(id).errorCode()).contains("NO_SUCH_SITE");
  }

  @Covers({"E7", "E8"})
  @Test
  void exponential_delays_double_up_to_their_cap_with_at_most_a_fifth_on_top() {
    UUID id =
        enqueue(
            NewJob.of("scrape", 1)
                .withPolicy(
                    PolicyOverrides.NONE
                        .withMaxAttempts(9)
                        .withRetry(RetryPolicy.Exponential.DEFAULTS)));

    for (long seconds : List.of(30, 60, 120, 240, 480, 960, 1920, 3600)) {
      assertThat(failAndMeasureDelay(id).orElseThrow())
          .isBetween(
              Duration.ofSeconds(seconds),
              Duration.ofSeconds(seconds).multipliedBy(6).dividedBy(5));
    }
    assertThat(failAndMeasureDelay(id)).isEmpty();
    assertThat(tenant.job(id).state()).isEqualTo(JobState.FAILED);
  }

  @Covers("A11")
  @Test
  void while_a_retry_waits_the_job_says_why_the_last_attempt_failed() {
    UUID id = enqueue(NewJob.of("deploy", 1));

    finish(claim(1).getFirst(), FLAKY);

    assertThat(tenant.job(id).state()).isEqualTo(JobState.QUEUED);
    assertThat(tenant.job(id).errorCode()).contains("FLAKY");
    assertThat(tenant.job(id).errorMessage()).contains("try again");
  }

  @Covers({"A11", "E2"})
  @Test
  void an_attempt_ended_by_a_crash_counts_and_says_so() {
    UUID id = enqueue(NewJob.of("deploy", 1));
    for (int attempt = 1; attempt <= 3; attempt++) {
      Lease lease = claim(1).getFirst();
      assertThat(lease.attempt().number()).isEqualTo(attempt);
      tenant.advance(Duration.ofSeconds(31));
      reap();
    }

    Job job = tenant.job(id);
    assertThat(job.state()).isEqualTo(JobState.FAILED);
    assertThat(job.errorCode()).contains(Failure.LEASE_LOST);
    assertThat(job.errorMessage()).contains("Worker worker stopped renewing its lease");
    assertThat(tenant.jobs().attempts(id))
        .extracting(AttemptRecord::outcome)
        .containsExactly("lost", "lost", "lost");
  }

  @Covers("E10")
  @Test
  void every_attempt_is_remembered_with_its_worker_its_times_and_its_end() {
    UUID id = enqueue(NewJob.of("deploy", 1));
    finish(claim(1).getFirst(), FLAKY);
    tenant.advance(Duration.ofMinutes(2));
    succeed(claim(1).getFirst());

    List<AttemptRecord> attempts = tenant.jobs().attempts(id);

    assertThat(attempts).extracting(AttemptRecord::number).containsExactly(1, 2);
    assertThat(attempts).extracting(AttemptRecord::outcome).containsExactly("failed", "succeeded");
    assertThat(attempts).extracting(AttemptRecord::worker).containsOnly("worker");
    assertThat(attempts)
        .allSatisfy(
            attempt -> assertThat(attempt.finishedAt()).isAfterOrEqualTo(attempt.startedAt()));
    assertThat(attempts.getFirst().errorCode()).contains("FLAKY");
  }

  @Covers("B9")
  @Test
  void a_job_that_must_not_run_twice_fails_with_its_lease_whatever_its_worker_says_later() {
    UUID id =
        enqueue(
            NewJob.of("call", 1)
                .withPolicy(PolicyOverrides.NONE.withOnLeaseLost(OnLeaseLost.FAIL)));
    Lease lost = claim(1).getFirst();
    tenant.advance(Duration.ofSeconds(31));
    reap();

    assertThat(finish(lost, Outcome.succeeded())).isEqualTo(new FinishReply.Lost());

    assertThat(tenant.job(id).state()).isEqualTo(JobState.FAILED);
    assertThat(tenant.job(id).errorCode()).contains(Failure.LEASE_LOST);
    assertThat(claim(10)).isEmpty();
  }

  @Test
  void snoozes_and_drains_use_up_no_attempt_however_many() {
    UUID id = enqueue(NewJob.of("deploy", 1));
    for (int i = 0; i < 10; i++) {
      finish(claim(1).getFirst(), Outcome.snoozed(Duration.ZERO));
      finish(claim(1).getFirst(), new Outcome.Released("closing"));
    }

    assertThat(tenant.job(id).attempt()).isZero();
    assertThat(claim(1).getFirst().attempt().number()).isEqualTo(1);
    assertThat(tenant.jobs().attempts(id)).hasSize(20);
  }

  /** Claims the job, lets it fail, and waits for its next turn; empty when there is none. */
  private Optional<Duration> failAndMeasureDelay(UUID id) {
    Lease lease = claim(1).getFirst();
    finish(lease, FLAKY);
    Job job = tenant.job(id);
    if (job.state() != JobState.QUEUED) {
      return Optional.empty();
    }
    Instant failedAt = tenant.jobs().attempts(id).getLast().finishedAt();
    Duration delay = Duration.between(failedAt, job.runAt());
    assertThat(claim(10)).isEmpty();
    tenant.advance(delay);
    return Optional.of(delay);
  }
}
