package dev.holdfast.job;

import dev.holdfast.error.HoldfastException;
import java.time.Duration;
import java.util.Optional;

/**
 * The complete policy of a job: how it is retried, timed out, leased and stopped, and what its
 * failure means. It is the job's own settings, over its queue's, over {@link #DEFAULTS}.
 *
 * @param tokenLimit input and output tokens together, over all attempts; a job that reports more is
 *     stopped and fails. Empty is no limit.
 * @param targetCount how many results the job is for; once its reports have brought that many, it
 *     has succeeded, whatever its handler does then. Empty: the handler decides when the job is
 *     done.
 * @param trace the trace that its attempts belong to. It is not a policy, but it is handled like
 *     one: set by the caller that enqueues, stored with the job and needed by its worker. Most jobs
 *     have neither, so both share a column.
 * @param enqueuedAs what ran jobs of its kind when the server accepted the job: an executor, or
 *     {@link #BY_WORKERS}. The job's arguments were checked for that, and for nothing else. Empty
 *     for jobs that did not come over HTTP, or that have nothing to be checked.
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

  /** The {@code enqueuedAs} of jobs whose kind no executor runs. */
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

  /** What becomes of a job whose worker fell silent. */
  public enum OnLeaseLost {
    RETRY,
    FAIL
  }

  /** What becomes of a job that is stopped. */
  public enum OnStop {
    CANCEL,
    PAUSE
  }

  /** Whether the target of a job that failed for good goes on, or waits until an operator acts. */
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
