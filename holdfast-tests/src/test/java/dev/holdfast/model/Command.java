package dev.holdfast.model;

import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.SortedSet;

/**
 * Something that is done to the engine and to the model. Jobs go by the number of their enqueue and
 * leases by which of their job's they are, so that a sequence means the same when commands are left
 * out of it; what then has no sense is not done.
 */
sealed interface Command {

  /** What a job is told at its enqueue. */
  record Spec(
      String kind,
      int priority,
      SortedSet<String> needs,
      Optional<String> target,
      int delaySeconds,
      int maxAttempts,
      int leaseSeconds,
      int retrySeconds,
      boolean holdsOnFailure,
      boolean pausesOnStop,
      boolean failsWhenLost) {}

  record Enqueue(int job, Spec spec) implements Command {}

  /** For all kinds when none is named. */
  record Claim(String worker, int limit, Set<String> kinds, Optional<String> claimId)
      implements Command {}

  record Beat(int job, int lease) implements Command {}

  /** How a worker says that an attempt ended. */
  enum How {
    SUCCEEDED,
    FAILED,
    FAILED_FOR_GOOD,
    SNOOZED,
    SNOOZED_A_WHILE,
    RELEASED,
    STOPPED
  }

  record End(int job, int lease, How how) {}

  record Finish(List<End> ends) implements Command {}

  record Tick(int seconds) implements Command {}

  record Reap() implements Command {}

  /** What people do. */
  enum Verb {
    CANCEL,
    STOP,
    PAUSE,
    RESUME,
    RESOLVE
  }

  record Do(Verb verb, int job) implements Command {}

  record SetCapacity(String resource, int capacity) implements Command {}

  record FreeResource(String resource) implements Command {}

  /** Runs what is left until every job has ended: nothing may be stuck. */
  record Drain() implements Command {}

  default String type() {
    return switch (this) {
      case Finish(List<End> ends) -> "finish";
      case Do(Verb verb, int job) -> verb.name().toLowerCase(java.util.Locale.ROOT);
      default -> getClass().getSimpleName().toLowerCase(java.util.Locale.ROOT);
    };
  }
}
