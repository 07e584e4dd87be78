package dev.holdfast.job;

import dev.holdfast.error.HoldfastException;
import dev.holdfast.job.Policy.OnFailure;
import dev.holdfast.job.Policy.OnLeaseLost;
import dev.holdfast.job.Policy.OnStop;
import java.time.Duration;
import java.util.Optional;

/**
 * The answers of {@link Policy} that a job, or a queue for its jobs, gives itself. What is left
 * open is decided when it is needed, so that a changed queue default reaches jobs already enqueued.
 */
public record PolicyOverrides(
    Optional<Integer> maxAttempts,
    Optional<RetryPolicy> retry,
    Optional<TimeLimit> timeout,
    Optional<Duration> leaseLength,
    Optional<OnLeaseLost> onLeaseLost,
    Optional<OnStop> onStop,
    Optional<OnFailure> onFailure,
    Optional<Long> tokenLimit) {

  public static final PolicyOverrides NONE =
      new PolicyOverrides(
          Optional.empty(),
          Optional.empty(),
          Optional.empty(),
          Optional.empty(),
          Optional.empty(),
          Optional.empty(),
          Optional.empty(),
          Optional.empty());

  public PolicyOverrides {
    maxAttempts.ifPresent(attempts -> {
      if (attempts < 1 || attempts > Limits.ATTEMPTS) {
        throw HoldfastException.invalid("max_attempts", attempts, "1 to " + Limits.ATTEMPTS);
      }
    });
    tokenLimit.ifPresent(limit -> {
      if (limit < 1) {
        throw HoldfastException.invalid("token_limit", limit, "1 or more");
      }
    });
    leaseLength.ifPresent(length -> Policy.checkLease("lease_seconds", length));
  }

  public PolicyOverrides withMaxAttempts(int attempts) {
    return new PolicyOverrides(
        Optional.of(attempts),
        retry,
        timeout,
        leaseLength,
        onLeaseLost,
        onStop,
        onFailure,
        tokenLimit);
  }

  public PolicyOverrides withRetry(RetryPolicy retry) {
    return new PolicyOverrides(
        maxAttempts,
        Optional.of(retry),
        timeout,
        leaseLength,
        onLeaseLost,
        onStop,
        onFailure,
        tokenLimit);
  }

  public PolicyOverrides withTimeout(TimeLimit timeout) {
    return new PolicyOverrides(
        maxAttempts,
        retry,
        Optional.of(timeout),
        leaseLength,
        onLeaseLost,
        onStop,
        onFailure,
        tokenLimit);
  }

  public PolicyOverrides withLeaseLength(Duration leaseLength) {
    return new PolicyOverrides(
        maxAttempts,
        retry,
        timeout,
        Optional.of(leaseLength),
        onLeaseLost,
        onStop,
        onFailure,
        tokenLimit);
  }

  public PolicyOverrides withOnLeaseLost(OnLeaseLost onLeaseLost) {
    return new PolicyOverrides(
        maxAttempts,
        retry,
        timeout,
        leaseLength,
        Optional.of(onLeaseLost),
        onStop,
        onFailure,
        tokenLimit);
  }

  public PolicyOverrides withOnStop(OnStop onStop) {
    return new PolicyOverrides(
        maxAttempts,
        retry,
        timeout,
        leaseLength,
        onLeaseLost,
        Optional.of(onStop),
        onFailure,
        tokenLimit);
  }

  public PolicyOverrides withOnFailure(OnFailure onFailure) {
    return new PolicyOverrides(
        maxAttempts,
        retry,
        timeout,
        leaseLength,
        onLeaseLost,
        onStop,
        Optional.of(onFailure),
        tokenLimit);
  }

  public PolicyOverrides withTokenLimit(long tokens) {
    return new PolicyOverrides(
        maxAttempts,
        retry,
        timeout,
        leaseLength,
        onLeaseLost,
        onStop,
        onFailure,
        Optional.of(tokens));
  }
}
