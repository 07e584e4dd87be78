package dev.holdfast.worker;

import dev.holdfast.job.Outcome;

/** Wraps every job a worker runs: tracing, tenant context, transactions, measuring. */
@FunctionalInterface
public interface Interceptor {

  /** Calls {@code next} once, or decides the outcome itself. */
  Outcome around(JobContext context, Next next) throws Exception;

  /** The rest of the chain, down to the handler. */
  @FunctionalInterface
  interface Next {
    Outcome proceed() throws Exception;
  }
}
