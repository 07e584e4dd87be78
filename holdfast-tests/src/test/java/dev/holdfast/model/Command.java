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
      boolean failsWhenLost,
      Extras extras) {

    Spec with(Extras extras) {
      return with(needs, extras);
    }

    Spec withNeeds(SortedSet<String> needs) {
      return with(needs, extras);
    }

    private Spec with(SortedSet<String> needs, Extras extras) {
      return new Spec(
          kind,
          priority,
          needs,
          target,
          subject,
          isPending,
          delaySeconds,
          maxAttempts,
          leaseSeconds,
          retrySeconds,
          timeoutSeconds,
          holdsOnFailure,
          pausesOnStop,
          failsWhenLost,
          extras);
    }
  }

  /**
   * What few jobs are told.
   *
   * @param hasId its id is given by who enqueues it, and made of its number
   */
  record Extras(
      String queue,
      boolean hasId,
      Optional<String> uniqueKey,
      Optional<Integer> tokenLimit,
      Optional<Integer> targetCount) {

    static final Extras NONE =
        new Extras("default", false, Optional.empty(), Optional.empty(), Optional.empty());
  }

  /** Of a number that there was, with an id: the same once more, or anew if it is gone. */
  record Enqueue(int job, Spec spec) implements Command {}

  /**
   * For all kinds when none is named.
   *
   * @param acknowledges the worker says when it starts what it got
   */
  record Claim(
      String worker, int limit, Set<String> kinds, Optional<String> claimId, boolean acknowledges)
      implements Command {}

  record Beat(int job, int lease) implements Command {}

  /** The worker starts what was dispatched to it. */
  record Start(int job, int lease) implements Command {}

  /** The worker wants its own job to stop. */
  record AskStop(int job, int lease) implements Command {}

  /** What a worker reports on the way. */
  record Tell(int job, int lease, int tokens, List<String> items, Optional<String> key)
      implements Command {}

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

  /** Reaps until the reaper has also looked for what it looks for more rarely. */
  record Sweep() implements Command {}

  /** What people do; a change says to what. */
  record Do(JobAct act, boolean force, int job, Change change) implements Command {}

  record Change(Optional<Integer> runInSeconds, Optional<Integer> priority) {
    static final Change NONE = new Change(Optional.empty(), Optional.empty());
  }

  record SetCapacity(String resource, int capacity) implements Command {}

  record FreeResource(String resource) implements Command {}

  record SetQueue(String queue, boolean paused, Optional<Integer> limit) implements Command {}

  /** A schedule, due at every so many seconds of a minute; its job is that of each slot. */
  record Plan(
      String name,
      int everySeconds,
      Spec job,
      boolean coalesces,
      int graceSeconds,
      int maxInstances,
      int expectedSeconds,
      boolean enabled) {}

  record PutSchedule(Plan plan) implements Command {}

  record DeleteSchedule(String name) implements Command {}

  /** Somebody decides about the slots that are due. */
  record Decide() implements Command {}

  /** Somebody wants a slot to run now. */
  record Trigger(String schedule, long second) implements Command {}

  /** A worker starts, and ends what one of its name left behind. */
  record Recover(String worker) implements Command {}

  /** The tenant is dropped and made anew, or the one beside it is. */
  record Remake(boolean own) implements Command {}

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
