package dev.holdfast.job;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.holdfast.job.Policy.OnLeaseLost;
import dev.holdfast.job.Policy.OnStop;
import java.time.Duration;
import java.util.List;
import java.util.random.RandomGenerator;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.ValueSource;

/** What becomes of a job after an attempt, for every way an attempt can end. */
class LifecycleTest {

  private static final RandomGenerator NO_LUCK = () -> 0L;
  private static final Attempt FIRST = new Attempt(1, 0, 0);
  private static final Policy THREE_ATTEMPTS = Policy.DEFAULTS;
  private static final Failure BROKEN = Failure.retryable("BROKEN", "It broke");
  private static final Outcome FAILED = Outcome.failed(BROKEN);

  @Test
  void success_ends_the_job_with_its_result() {
    Payload result = new Payload("{\"sent\": 1}");

    Transition next = after(FIRST, THREE_ATTEMPTS, Outcome.succeeded(result));

    assertThat(next.to()).isEqualTo(JobState.SUCCEEDED);
    assertThat(next.attemptOutcome()).isEqualTo("succeeded");
    assertThat(next.result()).isEqualTo(result);
    assertThat(next.failure()).isEmpty();
    assertThat(next.countsAsFailure()).isFalse();
    assertThat(next.refundsAttempt()).isFalse();
  }

  @Test
  void success_on_the_last_attempt_is_success() {
    assertThat(after(new Attempt(3, 2, 0), THREE_ATTEMPTS, Outcome.succeeded()).to())
        .isEqualTo(JobState.SUCCEEDED);
  }

  @Test
  void a_failure_sends_the_job_back_after_the_delay_of_its_number() {
    Transition first = after(FIRST, THREE_ATTEMPTS, FAILED);
    Transition second = after(new Attempt(2, 1, 0), THREE_ATTEMPTS, FAILED);

    assertThat(first.to()).isEqualTo(JobState.QUEUED);
    assertThat(first.delay()).isEqualTo(Duration.ofMinutes(1));
    assertThat(first.failure()).contains(BROKEN);
    assertThat(first.countsAsFailure()).isTrue();
    assertThat(first.refundsAttempt()).isFalse();
    assertThat(first.attemptOutcome()).isEqualTo("failed");
    assertThat(second.delay()).isEqualTo(Duration.ofMinutes(5));
  }

  @Test
  void delays_follow_failures_and_not_attempts() {
    // Attempt 3, but the two before it were lost to nothing the job did.
    assertThat(after(new Attempt(3, 0, 2), THREE_ATTEMPTS, FAILED).delay())
        .isEqualTo(Duration.ofMinutes(1));
  }

  @Test
  void a_failure_on_the_last_attempt_ends_the_job_and_says_why() {
    Transition next = after(new Attempt(3, 2, 0), THREE_ATTEMPTS, FAILED);

    assertThat(next.to()).isEqualTo(JobState.FAILED);
    assertThat(next.failure()).contains(BROKEN);
    assertThat(next.countsAsFailure()).isTrue();
    assertThat(next.delay()).isZero();
  }

  @Test
  void a_failure_that_cannot_be_retried_ends_the_job_on_its_first_attempt() {
    Failure permanent = Failure.permanent("NO_SUCH_ADDRESS", "ada is unknown");

    Transition next = after(FIRST, THREE_ATTEMPTS, Outcome.failed(permanent));

    assertThat(next.to()).isEqualTo(JobState.FAILED);
    assertThat(next.failure()).contains(permanent);
    assertThat(next.attemptOutcome()).isEqualTo("failed");
  }

  @Test
  void a_policy_without_retries_ends_the_job_on_its_first_failure() {
    Policy once = with(PolicyOverrides.NONE.withRetry(new RetryPolicy.None()));

    assertThat(after(FIRST, once, FAILED).to()).isEqualTo(JobState.FAILED);
  }

  @Test
  void granted_attempts_come_on_top_of_the_policys() {
    assertThat(after(new Attempt(3, 2, 1), THREE_ATTEMPTS, FAILED).to()).isEqualTo(JobState.QUEUED);
    assertThat(after(new Attempt(4, 3, 1), THREE_ATTEMPTS, FAILED).to()).isEqualTo(JobState.FAILED);
  }

  @Test
  void a_lost_lease_is_retried_at_once_and_counts() {
    Transition next = after(FIRST, THREE_ATTEMPTS, new Outcome.LeaseExpired("host-1"));

    assertThat(next.to()).isEqualTo(JobState.QUEUED);
    assertThat(next.delay()).isZero();
    assertThat(next.countsAsFailure()).isTrue();
    assertThat(next.refundsAttempt()).isFalse();
    assertThat(next.attemptOutcome()).isEqualTo("lost");
    assertThat(next.failure().orElseThrow().code()).isEqualTo(Failure.LEASE_LOST);
    assertThat(next.failure().orElseThrow().message()).contains("host-1");
  }

  @Test
  void a_lease_lost_on_the_last_attempt_ends_the_job() {
    Transition next =
        after(new Attempt(3, 0, 0), THREE_ATTEMPTS, new Outcome.LeaseExpired("host-1"));

    assertThat(next.to()).isEqualTo(JobState.FAILED);
    assertThat(next.attemptOutcome()).isEqualTo("lost");
    assertThat(next.countsAsFailure()).isTrue();
  }

  @Test
  void a_lost_lease_ends_a_job_whose_policy_says_so() {
    Policy strict = with(PolicyOverrides.NONE.withOnLeaseLost(OnLeaseLost.FAIL));

    Transition next = after(FIRST, strict, new Outcome.LeaseExpired("host-1"));

    assertThat(next.to()).isEqualTo(JobState.FAILED);
    assertThat(next.failure().orElseThrow().code()).isEqualTo(Failure.LEASE_LOST);
  }

  @Test
  void a_lost_lease_is_retried_even_when_failures_are_not() {
    Policy once = with(PolicyOverrides.NONE.withRetry(new RetryPolicy.None()).withMaxAttempts(2));

    assertThat(after(FIRST, once, new Outcome.LeaseExpired("host-1")).to())
        .isEqualTo(JobState.QUEUED);
  }

  @Test
  void a_snoozed_job_comes_back_later_and_its_attempt_is_refunded() {
    Transition next =
        after(new Attempt(3, 2, 0), THREE_ATTEMPTS, Outcome.snoozed(Duration.ofHours(1)));

    assertThat(next.to()).isEqualTo(JobState.QUEUED);
    assertThat(next.delay()).isEqualTo(Duration.ofHours(1));
    assertThat(next.refundsAttempt()).isTrue();
    assertThat(next.countsAsFailure()).isFalse();
    assertThat(next.failure()).isEmpty();
    assertThat(next.attemptOutcome()).isEqualTo("snoozed");
  }

  @Test
  void a_released_job_goes_back_at_once_and_its_attempt_is_refunded() {
    Transition next = after(new Attempt(3, 2, 0), THREE_ATTEMPTS, new Outcome.Released("draining"));

    assertThat(next.to()).isEqualTo(JobState.QUEUED);
    assertThat(next.delay()).isZero();
    assertThat(next.refundsAttempt()).isTrue();
    assertThat(next.countsAsFailure()).isFalse();
    assertThat(next.attemptOutcome()).isEqualTo("released");
  }

  @Test
  void a_job_that_pauses_when_stopped_is_paused_by_a_drain_too() {
    Transition next = after(FIRST, pausing(), new Outcome.Released("worker is closing"));

    assertThat(next.to()).isEqualTo(JobState.PAUSED);
    assertThat(next.failure().orElseThrow().message())
        .isEqualTo("Job was interrupted: worker is closing");
  }

  @ParameterizedTest
  @EnumSource
  void a_stopped_job_is_cancelled_or_paused_as_its_policy_says(OnStop onStop) {
    Policy policy = with(PolicyOverrides.NONE.withOnStop(onStop));

    Transition next = after(FIRST, policy, new Outcome.Stopped());

    assertThat(next.to()).isEqualTo(onStop == OnStop.PAUSE ? JobState.PAUSED : JobState.CANCELLED);
    assertThat(next.attemptOutcome()).isEqualTo("stopped");
    assertThat(next.countsAsFailure()).isFalse();
    assertThat(next.failure().orElseThrow().message()).isEqualTo("Job was interrupted by user");
  }

  @Test
  void a_stop_on_the_last_attempt_is_still_a_stop() {
    assertThat(after(new Attempt(3, 2, 0), pausing(), new Outcome.Stopped()).to())
        .isEqualTo(JobState.PAUSED);
  }

  @ParameterizedTest
  @ValueSource(ints = {1, 2, 3, 4})
  void every_outcome_leads_where_a_running_job_may_go(int number) {
    List<Outcome> outcomes =
        List.of(
            Outcome.succeeded(),
            FAILED,
            Outcome.snoozed(Duration.ofSeconds(1)),
            new Outcome.Stopped(),
            new Outcome.Released("draining"),
            new Outcome.LeaseExpired("host-1"));
    for (Outcome outcome : outcomes) {
      for (Policy policy : List.of(THREE_ATTEMPTS, pausing())) {
        Transition next = after(new Attempt(number, number - 1, 0), policy, outcome);

        assertThat(JobState.RUNNING.canBecome(next.to())).as("%s", outcome).isTrue();
        assertThat(next.to() == JobState.FAILED && next.failure().isEmpty())
            .as("%s fails without a reason", outcome)
            .isFalse();
      }
    }
  }

  @Test
  void an_attempt_counts_from_one() {
    assertThatThrownBy(() -> new Attempt(0, 0, 0)).isInstanceOf(IllegalArgumentException.class);
    assertThatThrownBy(() -> new Attempt(1, -1, 0)).isInstanceOf(IllegalArgumentException.class);
    assertThatThrownBy(() -> new Attempt(1, 0, -1)).isInstanceOf(IllegalArgumentException.class);
  }

  @Test
  void a_failure_always_has_a_code_and_never_more_text_than_fits() {
    Failure failure = new Failure(" ", "x".repeat(20_000), true);

    assertThat(failure.code()).isEqualTo(Failure.HANDLER_FAILED);
    assertThat(failure.message()).hasSizeLessThan(Limits.ERROR_MESSAGE_CHARS + 20);
    assertThat(Failure.of(new IllegalStateException("broken")).message())
        .isEqualTo("java.lang.IllegalStateException: broken");
  }

  private static Transition after(Attempt attempt, Policy policy, Outcome outcome) {
    return Lifecycle.next(attempt, policy, outcome, NO_LUCK);
  }

  private static Policy with(PolicyOverrides said) {
    return Policy.DEFAULTS.with(said);
  }

  private static Policy pausing() {
    return with(PolicyOverrides.NONE.withOnStop(OnStop.PAUSE));
  }
}
