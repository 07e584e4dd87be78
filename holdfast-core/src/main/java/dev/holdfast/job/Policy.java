package dev.holdfast.job;

import dev.holdfast.error.HoldfastException;
import java.time.Duration;
import java.util.Optional;

/**
 * What becomes of a job when something other than success happens to it, every question answered.
 * Made by laying what the job said over what its queue says over {@link #DEFAULTS}.
 *
 * @param tokenLimit input and output tokens together, over all attempts; a job that reports more is
 *     stopped and has failed. Empty is no limit.
 * @param targetCount the results a job is for; when its reports have brought so many, it has
 *     succeeded, whatever its handler does then. Empty: its handler says when it is done.
 * @param trace that its attempts belong to. No policy, but like one it is said by who enqueues,
 *     kept with the job, and wanted by whoever runs it; and most jobs have none of either.
 * @param enqueuedAs what ran jobs of its kind when the server took it: an executor, or {@link
 *     #BY_WORKERS}. Its arguments were judged for that, and for nothing else. Empty for jobs that
 *     did not come over HTTP, or that have nothing in them to be judged.
 */
public record Policy(
    int maxAttempts,
    RetryPolicy retry,
    TimeLimit timeout,
    Duration leaseLength,
    OnLeaseLost onLeaseLost,
    OnStop onStop,
    OnFailure onFailure,
    Optional<Long> tokenLimit,
    Optional<Long> targetCount,
    Optional<TraceContext> trace,
    Optional<String> enqueuedAs) {

  /** Jobs of a kind that no executor runs. */
  public static final String BY_WORKERS = "worker";

  public static final Duration SHORTEST_LEASE = Duration.ofSeconds(1);
  public static final Duration LONGEST_LEASE = Duration.ofDays(1);

  public static final Policy DEFAULTS =
      new Policy(
          3,
          RetryPolicy.Delays.DEFAULTS,
          TimeLimit.of(Duration.ofMinutes(30)),
          Duration.ofSeconds(30),
          OnLeaseLost.RETRY,
          OnStop.CANCEL,
          OnFailure.RELEASE,
          Optional.empty(),
          Optional.empty(),
          Optional.empty(),
          Optional.empty());

  /** A worker fell silent. */
  public enum OnLeaseLost {
    RETRY,
    FAIL
  }

  /** Somebody asked the running job to stop, and it did. */
  public enum OnStop {
    CANCEL,
    PAUSE
  }

  /** The job failed for good: does its target go on, or wait until somebody acts? */
  public enum OnFailure {
    RELEASE,
    HOLD
  }

  public Policy with(PolicyOverrides said) {
    if (said.equals(PolicyOverrides.NONE)) {
      return this;
    }
    return new Policy(
        said.maxAttempts().orElse(maxAttempts),
        said.retry().orElse(retry),
        said.timeout().orElse(timeout),
        said.leaseLength().orElse(leaseLength),
        said.onLeaseLost().orElse(onLeaseLost),
        said.onStop().orElse(onStop),
        said.onFailure().orElse(onFailure),
        said.tokenLimit().or(() -> tokenLimit),
        said.targetCount().or(() -> targetCount),
        said.trace().or(() -> trace),
        said.enqueuedAs().or(() -> enqueuedAs));
  }

  public static Duration checkLease(String field, Duration length) {
    if (length.compareTo(SHORTEST_LEASE) < 0 || length.compareTo(LONGEST_LEASE) > 0) {
      throw HoldfastException.invalid(field, length, "1 second to 1 day");
    }
    return length;
  }
}
