package dev.holdfast.executor;

import dev.holdfast.job.Outcome;
import dev.holdfast.worker.JobContext;
import java.util.UUID;
import org.jspecify.annotations.Nullable;

/**
 * Runs jobs of the kind with its own name, and of kinds that are registered with it. It takes any
 * JSON as arguments, so that errors can name the wrong field.
 */
interface KindExecutor extends AutoCloseable {

  String name();

  Outcome run(@Nullable Object args, Runbook book, JobContext job) throws InterruptedException;

  /**
   * Ends what a dead process left of an attempt where only an engine can end it.
   *
   * @throws RuntimeException while something of it may still run
   */
  default void endLeft(UUID jobId, long fence) {}

  @Override
  default void close() {}
}
