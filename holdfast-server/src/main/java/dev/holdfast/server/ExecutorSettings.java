package dev.holdfast.server;

import dev.holdfast.executor.ExecutorConfig;
import java.util.Set;
import java.util.stream.Collectors;

/**
 * The executors that a node runs itself.
 *
 * @param names the executors; empty where workers and agents run everything
 * @param queues the queues whose jobs they run
 * @param config what they may do
 * @param unasked executors that run only by default. Commands among them run for the default tenant
 *     only: they could read the server's files, which no other tenant's admin may.
 */
public record ExecutorSettings(
    Set<String> names, Set<String> queues, ExecutorConfig config, Set<String> unasked) {

  public static final ExecutorSettings NONE =
      new ExecutorSettings(Set.of(), Set.of("default"), ExecutorConfig.DEFAULTS);

  public ExecutorSettings {
    names = Set.copyOf(names);
    queues = Set.copyOf(queues);
    unasked = Set.copyOf(unasked);
  }

  /** Executors that were asked for explicitly. */
  public ExecutorSettings(Set<String> names, Set<String> queues, ExecutorConfig config) {
    this(names, queues, config, Set.of());
  }

  /** The executors that run jobs of every tenant. */
  Set<String> forAllTenants() {
    return names.stream().filter(name -> !isForDefaultTenant(name)).collect(Collectors.toSet());
  }

  /** The executors that run jobs of the default tenant only. */
  Set<String> forDefaultTenant() {
    return names.stream().filter(this::isForDefaultTenant).collect(Collectors.toSet());
  }

  private boolean isForDefaultTenant(String name) {
    return unasked.contains(name) && !name.equals("http"); // calls reach only listed hosts
  }
}
