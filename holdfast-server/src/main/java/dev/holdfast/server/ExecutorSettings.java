package dev.holdfast.server;

import dev.holdfast.executor.ExecutorConfig;
import java.util.Set;
import java.util.stream.Collectors;

/**
 * What a node runs itself.
 *
 * @param names of executors; none where others run everything
 * @param queues whose jobs they are
 * @param config what they may do
 * @param unasked those of them that nobody asked for. Commands among them are run for the default
 *     tenant alone: they could read the server's files, which no other tenant's admin may.
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

  /** Those that somebody asked for. */
  public ExecutorSettings(Set<String> names, Set<String> queues, ExecutorConfig config) {
    this(names, queues, config, Set.of());
  }

  /** Those that run jobs of every tenant. */
  Set<String> forAllTenants() {
    return names.stream().filter(name -> !isForDefaultTenant(name)).collect(Collectors.toSet());
  }

  /** Those that run jobs of the default tenant and of no other. */
  Set<String> forDefaultTenant() {
    return names.stream().filter(this::isForDefaultTenant).collect(Collectors.toSet());
  }

  private boolean isForDefaultTenant(String name) {
    return unasked.contains(name) && !name.equals("http"); // calls reach listed hosts alone
  }
}
