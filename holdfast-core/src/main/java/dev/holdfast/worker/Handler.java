package dev.holdfast.worker;

import dev.holdfast.job.Outcome;

/**
 * Runs jobs of one kind. A job may run more than once (a process can die after the work and before
 * the report), so a handler makes its effects idempotent with what {@link JobContext} gives it.
 */
@FunctionalInterface
public interface Handler<A> {

  /**
   * An exception means {@link Outcome.Failed}, to be retried as the job's policy says, unless it is
   * an {@link OutcomeException}, which says how the attempt ended.
   */
  Outcome handle(A args, JobContext context) throws Exception;

  /** A handler whose normal return is success, unless it was told to stop. */
  @FunctionalInterface
  interface Simple<A> {

    void handle(A args, JobContext context) throws Exception;

    default Handler<A> returningSuccess() {
      return (args, context) -> {
        handle(args, context);
        return context.returned();
      };
    }
  }
}
