package dev.holdfast.executor;

import dev.holdfast.worker.JobContext;

/** Is told of containers that were started. Called on the job's thread; must not throw. */
@FunctionalInterface
public interface ContainerListener {

  ContainerListener NONE = (job, id, name) -> {};

  void started(JobContext job, String id, String name);
}
