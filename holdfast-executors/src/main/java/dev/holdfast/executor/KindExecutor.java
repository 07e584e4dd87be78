package dev.holdfast.executor;

import dev.holdfast.job.Kind;
import dev.holdfast.worker.Handler;

/**
 * Runs jobs of one kind. It takes whatever JSON the job has, so that what is wrong with it can be
 * told by the name of the field.
 */
interface KindExecutor extends Handler<Object>, AutoCloseable {

  Kind<Object> kind();

  @Override
  default void close() {}
}
