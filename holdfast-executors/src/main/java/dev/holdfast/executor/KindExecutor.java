package dev.holdfast.executor;

import dev.holdfast.job.Outcome;
import dev.holdfast.worker.JobContext;
import org.jspecify.annotations.Nullable;

/**
 * Runs jobs of the kind that it is named after, and of those that people registered for it. It
 * takes whatever JSON the job has, so that what is wrong with it can be told by the name of the
 * field.
 */
interface KindExecutor extends AutoCloseable {

  String name();

  Outcome run(@Nullable Object args, Runbook book, JobContext job) throws InterruptedException;

  @Override
  default void close() {}
}
