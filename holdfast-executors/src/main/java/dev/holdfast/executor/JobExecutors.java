package dev.holdfast.executor;

import dev.holdfast.error.HoldfastException;
import dev.holdfast.job.Kind;
import dev.holdfast.worker.WorkerBuilder;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeSet;
import java.util.UUID;

/**
 * The executors that a server, an agent or an application has chosen. Close it after the workers it
 * was installed on; closing kills what they left running. Thread-safe.
 */
public final class JobExecutors implements AutoCloseable {

  /** The names of all executors, which are also kinds. */
  public static final Set<String> NAMES =
      Set.of(ProcessExecutor.NAME, HttpExecutor.NAME, AnsibleExecutor.NAME, ContainerExecutor.NAME);

  /** The executors that need nothing but this machine. */
  public static final Set<String> USUAL = Set.of(ProcessExecutor.NAME, HttpExecutor.NAME);

  private final LeaseWatch watch;
  private final Map<String, KindExecutor> byName;

  private JobExecutors(LeaseWatch watch, Map<String, KindExecutor> byName) {
    this.watch = watch;
    this.byName = byName;
  }

  /**
   * Opens executors. Refuses names that are not in {@link #NAMES}, and executors that cannot work
   * on this machine.
   */
  public static JobExecutors open(Set<String> names, ExecutorConfig config) {
    return open(names, config, ContainerListener.NONE);
  }

  /** The same, with a listener for started containers. */
  public static JobExecutors open(
      Set<String> names, ExecutorConfig config, ContainerListener listener) {
    boolean hasContainers = names.contains(ContainerExecutor.NAME);
    LeaseWatch watch =
        new LeaseWatch(
            Shell.find(),
            config.termGrace(),
            hasContainers ? Optional.of(config.containers().socket()) : Optional.empty());
    Map<String, KindExecutor> executors = new LinkedHashMap<>();
    try {
      for (String name : new TreeSet<>(names)) {
        executors.put(name, executor(name, config, watch, listener));
      }
    } catch (RuntimeException e) {
      executors.values().forEach(KindExecutor::close);
      throw e;
    }
    return new JobExecutors(watch, executors);
  }

  private static KindExecutor executor(
      String name, ExecutorConfig config, LeaseWatch watch, ContainerListener listener) {
    return switch (name) {
      case ProcessExecutor.NAME -> new ProcessExecutor(watch, config);
      case HttpExecutor.NAME -> new HttpExecutor(config);
      case AnsibleExecutor.NAME -> AnsibleExecutor.on(watch, config);
      case ContainerExecutor.NAME -> ContainerExecutor.on(watch, config, listener);
      default ->
          throw HoldfastException.badConfig(
              "executors", name, String.join(", ", new TreeSet<>(NAMES)));
    };
  }

  /** Lets the worker run jobs of the chosen kinds. */
  public WorkerBuilder installOn(WorkerBuilder worker) {
    byName.forEach((name, executor) ->
        worker.handleWithOutcome(
            Kind.of(name, Object.class), (args, job) -> executor.run(args, Runbook.NONE, job)));
    return worker;
  }

  /** Also lets it run jobs of kinds that are registered with these executors. */
  public WorkerBuilder installOn(WorkerBuilder worker, KindCatalog catalog) {
    return installOn(worker).handleRegistered(new RegisteredExecutors(byName, catalog));
  }

  /**
   * Ends what a process that is certainly dead left of an attempt, where only these executors can:
   * its containers.
   *
   * @throws RuntimeException while something of it may still run
   */
  public void endLeft(UUID jobId, long fence) {
    byName.values().forEach(executor -> executor.endLeft(jobId, fence));
  }

  @Override
  public void close() {
    byName.values().forEach(KindExecutor::close);
    watch.close();
  }
}
