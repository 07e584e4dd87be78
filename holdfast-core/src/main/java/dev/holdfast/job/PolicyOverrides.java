package dev.holdfast.job;

import dev.holdfast.error.HoldfastException;
import dev.holdfast.job.Policy.OnFailure;
import dev.holdfast.job.Policy.OnLeaseLost;
import dev.holdfast.job.Policy.OnStop;
import java.time.Duration;
import java.util.Optional;
import java.util.function.Consumer;

/**
 * The settings of {@link Policy} that a job, or a queue for its jobs, sets itself. The others are
 * decided when they are needed, so that a changed queue default applies to jobs already enqueued.
 */
public record PolicyOverrides(
    Optional<Integer> maxAttempts,
    Optional<RetryPolicy> retry,
    Optional<TimeLimit> timeout,
    Optional<Duration> leaseLength,
    Optional<OnLeaseLost> onLeaseLost,
    Optional<OnStop> onStop,
    Optional<OnFailure> onFailure,
    Optional<Long> tokenLimit,
    Optional<Long> targetCount,
    Optional<TraceContext> trace,
    Optional<String> enqueuedAs) {

  public static final PolicyOverrides NONE = new Draft().done();

  public PolicyOverrides {
    maxAttempts.ifPresent(attempts -> {
      if (attempts < 1 || attempts > Limits.ATTEMPTS) {
        throw HoldfastException.invalid("max_attempts", attempts, "1 to " + Limits.ATTEMPTS);
      }
    });
    tokenLimit.ifPresent(limit -> Limits.positive("token_limit", limit));
    targetCount.ifPresent(count -> Limits.positive("target_count", count));
    leaseLength.ifPresent(length -> Policy.checkLease("lease_seconds", length));
  }

  public PolicyOverrides withMaxAttempts(int attempts) {
    return with(draft -> draft.maxAttempts = Optional.of(attempts));
  }

  public PolicyOverrides withRetry(RetryPolicy retry) {
    return with(draft -> draft.retry = Optional.of(retry));
  }

  public PolicyOverrides withTimeout(TimeLimit timeout) {
    return with(draft -> draft.timeout = Optional.of(timeout));
  }

  public PolicyOverrides withLeaseLength(Duration length) {
    return with(draft -> draft.leaseLength = Optional.of(length));
  }

  public PolicyOverrides withOnLeaseLost(OnLeaseLost choice) {
    return with(draft -> draft.onLeaseLost = Optional.of(choice));
  }

  public PolicyOverrides withOnStop(OnStop choice) {
    return with(draft -> draft.onStop = Optional.of(choice));
  }

  public PolicyOverrides withOnFailure(OnFailure choice) {
    return with(draft -> draft.onFailure = Optional.of(choice));
  }

  public PolicyOverrides withTokenLimit(long tokens) {
    return with(draft -> draft.tokenLimit = Optional.of(tokens));
  }

  public PolicyOverrides withTargetCount(long results) {
    return with(draft -> draft.targetCount = Optional.of(results));
  }

  public PolicyOverrides withTrace(TraceContext trace) {
    return with(draft -> draft.trace = Optional.of(trace));
  }

  /** For settings that many jobs share, which do not all belong to one trace. */
  public PolicyOverrides withoutTrace() {
    return with(draft -> draft.trace = Optional.empty());
  }

  /** Set by the server only, not by callers that enqueue. */
  public PolicyOverrides withEnqueuedAs(String executor) {
    return with(draft -> draft.enqueuedAs = Optional.of(executor));
  }

  /** These settings; those that are empty are taken from {@code others}. */
  public PolicyOverrides over(PolicyOverrides others) {
    return new PolicyOverrides(
        maxAttempts.or(others::maxAttempts),
        retry.or(others::retry),
        timeout.or(others::timeout),
        leaseLength.or(others::leaseLength),
        onLeaseLost.or(others::onLeaseLost),
        onStop.or(others::onStop),
        onFailure.or(others::onFailure),
        tokenLimit.or(others::tokenLimit),
        targetCount.or(others::targetCount),
        trace.or(others::trace),
        enqueuedAs.or(others::enqueuedAs));
  }

  private PolicyOverrides with(Consumer<Draft> change) {
    Draft draft = new Draft();
    draft.maxAttempts = maxAttempts;
    draft.retry = retry;
    draft.timeout = timeout;
    draft.leaseLength = leaseLength;
    draft.onLeaseLost = onLeaseLost;
    draft.onStop = onStop;
    draft.onFailure = onFailure;
    draft.tokenLimit = tokenLimit;
    draft.targetCount = targetCount;
    draft.trace = trace;
    draft.enqueuedAs = enqueuedAs;
    change.accept(draft);
    return draft.done();
  }

  /** A mutable copy, for the {@code with…} methods. */
  private static final class Draft {
    Optional<Integer> maxAttempts = Optional.empty();
    Optional<RetryPolicy> retry = Optional.empty();
    Optional<TimeLimit> timeout = Optional.empty();
    Optional<Duration> leaseLength = Optional.empty();
    Optional<OnLeaseLost> onLeaseLost = Optional.empty();
    Optional<OnStop> onStop = Optional.empty();
    Optional<OnFailure> onFailure = Optional.empty();
    Optional<Long> tokenLimit = Optional.empty();
    Optional<Long> targetCount = Optional.empty();
    Optional<TraceContext> trace = Optional.empty();
    Optional<String> enqueuedAs = Optional.empty();

    PolicyOverrides done() {
      return new PolicyOverrides(
          maxAttempts,
          retry,
          timeout,
          leaseLength,
          onLeaseLost,
          onStop,
          onFailure,
          tokenLimit,
          targetCount,
          trace,
          enqueuedAs);
    }
  }
}
