package dev.holdfast.lease;

import dev.holdfast.job.Failure;
import dev.holdfast.job.JobIds;
import dev.holdfast.job.JobState;
import dev.holdfast.job.Lifecycle;
import dev.holdfast.job.Moved;
import dev.holdfast.job.Outcome;
import dev.holdfast.job.Payload;
import dev.holdfast.job.StopRequest;
import dev.holdfast.job.Transition;
import java.util.Arrays;
import java.util.Comparator;
import java.util.List;
import java.util.Objects;
import java.util.Optional;
import java.util.UUID;
import java.util.function.Function;
import java.util.random.RandomGenerator;
import org.jdbi.v3.core.statement.Query;
import org.jspecify.annotations.Nullable;

/**
 * An attempt that ended, and the transition that was decided for its job.
 *
 * @param workIsOver whether the worker itself said that its work is over; otherwise it may still be
 *     going on
 * @param said the last lines of its log
 */
public record Ended(Lease lease, Transition transition, boolean workIsOver, Optional<String> said) {

  // Of two leases of one job only the later can be in force, so it comes last: of equal job ids,
  // width_bucket finds the last.
  static final Comparator<Ended> BY_JOB =
      Comparator.comparing((Ended end) -> end.key().jobId(), JobIds.ORDER)
          .thenComparingLong(end -> end.key().fence());

  // A column of nothing but NULLs: elements beyond an array's end are NULL, too, and found faster
  // than the last of hundreds.
  private static final Object[] NOTHING = {};

  /** An end that the attempt's worker reported. */
  static Ended reported(Finish finish, RandomGenerator dice) {
    Transition next = next(finish.lease(), finish.outcome(), dice);
    return new Ended(finish.lease(), next, true, finish.logExcerpt());
  }

  /** An end that the reaper decided on, in place of a silent worker. */
  public static Ended silent(
      Lease lease, Outcome outcome, Optional<String> said, RandomGenerator dice) {
    return new Ended(lease, next(lease, outcome, dice), false, said);
  }

  private static Transition next(Lease lease, Outcome outcome, RandomGenerator dice) {
    return Lifecycle.next(lease.attempt(), lease.policy(), outcome, dice);
  }

  /** The same attempt, for a job that turned out to have been asked to stop. */
  Ended asStopped(StopRequest asked) {
    return new Ended(lease, Lifecycle.stopped(lease.policy(), asked), workIsOver, said);
  }

  LeaseKey key() {
    return lease.key();
  }

  boolean finishesJob() {
    return transition.to().isFinished();
  }

  Moved moved(JobState to) {
    return new Moved(
        key().jobId(),
        lease.kind(),
        lease.queue(),
        lease.needs(),
        JobState.RUNNING,
        to,
        key().fence());
  }

  boolean hasNeeds() {
    return !lease.needs().isNothing();
  }

  /** Whether there is nothing to write but the success itself. */
  boolean isMereSuccess() {
    return transition.to() == JobState.SUCCEEDED
        && transition.result().equals(Payload.NULL)
        && said.isEmpty()
        && !hasNeeds();
  }

  @Nullable String errorCode() {
    return transition.failure().map(Failure::code).orElse(null);
  }

  @Nullable String errorMessage() {
    return transition.failure().map(Failure::message).orElse(null);
  }

  @Nullable String logExcerpt() {
    return said.orElse(null);
  }

  @Nullable String result() {
    return transition.result().equals(Payload.NULL) ? null : transition.result().json();
  }

  /** Binds one column of a batch. */
  static <T> void bind(
      Query query,
      String name,
      Class<T> type,
      List<Ended> ended,
      Function<Ended, @Nullable T> column) {
    Object[] values = ended.stream().map(column).toArray();
    boolean none = Arrays.stream(values).allMatch(Objects::isNull);
    query.bindArray(name, type, none ? NOTHING : values);
  }

  /** Binds the keys of the attempts. */
  static void bindKeys(Query query, List<Ended> ended) {
    bind(query, "job_ids", UUID.class, ended, end -> end.key().jobId());
    bind(query, "fences", Long.class, ended, end -> end.key().fence());
  }

  /** Runs a statement on this batch, all of one tenant; returns the attempts that it wrote. */
  static List<LeaseKey> keys(Query query, List<Ended> ended) {
    String tenant = ended.getFirst().key().tenant();
    return query
        .map((row, context) ->
            new LeaseKey(tenant, row.getObject("id", UUID.class), row.getLong("fence")))
        .list();
  }
}
