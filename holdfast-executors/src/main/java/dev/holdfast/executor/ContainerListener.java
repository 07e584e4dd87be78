package dev.holdfast.executor;

import dev.holdfast.worker.JobContext;

/** Hears of containers that were started. Called on the job's thread, and must not fail. */
@FunctionalInterface
public interface ContainerListener {

  ContainerListener NONE = (job, id, name) -> {};

  void started(JobContext job, String id, String name);
}
