package dev.holdfast.server;

import dev.holdfast.executor.ExecutorConfig;
import java.util.Set;

/**
 * What a node runs itself.
 *
 * @param names of executors; none where others run everything
 * @param queues whose jobs they are
 * @param config what they may do
 */
public record ExecutorSettings(Set<String> names, Set<String> queues, ExecutorConfig config) {

  public static final ExecutorSettings NONE =
      new ExecutorSettings(Set.of(), Set.of("default"), ExecutorConfig.DEFAULTS);

  public ExecutorSettings {
    names = Set.copyOf(names);
    queues = Set.copyOf(queues);
  }
}
