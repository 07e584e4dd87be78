package dev.holdfast.model;

import dev.holdfast.job.JobAct;
import java.util.List;
import java.util.Locale;
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
      Optional<String> subject,
      boolean isPending,
      int delaySeconds,
      int maxAttempts,
      int leaseSeconds,
      int retrySeconds,
      Optional<Integer> timeoutSeconds,
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

  /** What people do; a change says to what. */
  record Do(JobAct act, boolean force, int job, Change change) implements Command {}

  record Change(Optional<Integer> runInSeconds, Optional<Integer> priority) {
    static final Change NONE = new Change(Optional.empty(), Optional.empty());
  }

  record SetCapacity(String resource, int capacity) implements Command {}

  record FreeResource(String resource) implements Command {}

  /** Reaps, and reads the product's own views of its invariants. */
  record Inspect() implements Command {}

  /** Runs what is left until every job has ended: nothing may be stuck. */
  record Drain() implements Command {}

  default String type() {
    return switch (this) {
      case Do act -> act.act.stored();
      default -> getClass().getSimpleName().toLowerCase(Locale.ROOT);
    };
  }
}
