package dev.holdfast.agent;

import dev.holdfast.error.HoldfastException;
import dev.holdfast.executor.ExecutorConfig;
import dev.holdfast.job.Limits;
import dev.holdfast.job.NewJob;
import dev.holdfast.worker.WorkerConfig;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Map;
import java.util.Set;

/**
 * How an agent works.
 *
 * @param name who it is, and where jobs that ask for a host find it. Defaults to the machine's.
 * @param labels jobs that ask for labels run only where all of theirs are. Defaults to none.
 * @param queues whose jobs it runs. Defaults to {@code default}.
 * @param concurrency most jobs at once. Defaults to 4.
 * @param executors what it runs. Defaults to {@code process} and {@code http}.
 * @param data a directory of its own, in which it remembers what it has begun
 * @param drainTimeout how long running jobs may go on when it is told to end
 */
public record AgentConfig(
    String name,
    Map<String, String> labels,
    Set<String> queues,
    int concurrency,
    Set<String> executors,
    Path data,
    Duration drainTimeout,
    ExecutorConfig limits) {

  public AgentConfig {
    Limits.name("agent.name", name);
    if (executors.isEmpty()) {
      throw HoldfastException.badConfig("agent.executors", "none", "at least one");
    }
    labels = Map.copyOf(labels);
    queues = Set.copyOf(queues);
    executors = Set.copyOf(executors);
  }

  public static AgentConfig defaults(Path data) {
    WorkerConfig worker = WorkerConfig.defaults();
    return new AgentConfig(
        worker.host(),
        Map.of(),
        Set.of(NewJob.DEFAULT_QUEUE),
        4,
        Set.of("process", "http"),
        data,
        worker.drainTimeout(),
        ExecutorConfig.DEFAULTS.withScratch(data.resolve("scratch")));
  }

  public AgentConfig withName(String name) {
    return new AgentConfig(
        name, labels, queues, concurrency, executors, data, drainTimeout, limits);
  }

  public AgentConfig withLabels(Map<String, String> labels) {
    return new AgentConfig(
        name, labels, queues, concurrency, executors, data, drainTimeout, limits);
  }

  public AgentConfig withQueues(Set<String> queues) {
    return new AgentConfig(
        name, labels, queues, concurrency, executors, data, drainTimeout, limits);
  }

  public AgentConfig withConcurrency(int concurrency) {
    return new AgentConfig(
        name, labels, queues, concurrency, executors, data, drainTimeout, limits);
  }

  /** What it runs, and what that may do. */
  public AgentConfig withExecutors(Set<String> executors, ExecutorConfig limits) {
    return new AgentConfig(
        name, labels, queues, concurrency, executors, data, drainTimeout, limits);
  }

  public AgentConfig withDrainTimeout(Duration drainTimeout) {
    return new AgentConfig(
        name, labels, queues, concurrency, executors, data, drainTimeout, limits);
  }

  WorkerConfig worker(WorkerConfig defaults) {
    return defaults
        .withName(name)
        .withHost(name)
        .withLabels(labels)
        .withQueues(queues.toArray(String[]::new))
        .withConcurrency(concurrency)
        .withDrainTimeout(drainTimeout);
  }
}
