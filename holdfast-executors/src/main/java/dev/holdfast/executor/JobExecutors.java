package dev.holdfast.executor;

import dev.holdfast.error.HoldfastException;
import dev.holdfast.worker.WorkerBuilder;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;

/**
 * The executors that a server, an agent or an application has chosen. Close it after the workers
 * that it was installed on; closing kills what they left running. Thread-safe.
 */
public final class JobExecutors implements AutoCloseable {

  /** The kinds that there are executors for. */
  public static final Set<String> NAMES = Set.of(ProcessExecutor.NAME, HttpExecutor.NAME);

  private final List<KindExecutor> executors;

  private JobExecutors(List<KindExecutor> executors) {
    this.executors = executors;
  }

  /**
   * Refuses names that are not in {@link #NAMES}, and executors that cannot work on this machine.
   */
  public static JobExecutors open(Set<String> names, ExecutorConfig config) {
    return new JobExecutors(
        new TreeSet<>(names).stream().map(name -> executor(name, config)).toList());
  }

  private static KindExecutor executor(String name, ExecutorConfig config) {
    return switch (name) {
      case ProcessExecutor.NAME -> ProcessExecutor.on(config);
      case HttpExecutor.NAME -> new HttpExecutor(config);
      default ->
          throw HoldfastException.badConfig(
              "executors", name, String.join(", ", new TreeSet<>(NAMES)));
    };
  }

  /** Lets the worker run jobs of the chosen kinds. */
  public WorkerBuilder installOn(WorkerBuilder worker) {
    executors.forEach(executor -> worker.handleWithOutcome(executor.kind(), executor));
    return worker;
  }

  @Override
  public void close() {
    executors.forEach(KindExecutor::close);
  }
}
