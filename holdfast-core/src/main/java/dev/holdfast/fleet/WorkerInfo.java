package dev.holdfast.fleet;

import java.util.Map;
import java.util.Optional;
import java.util.Set;

/**
 * What a worker says about itself, for others to see and to answer why a job does not run.
 *
 * @param tenant empty when it serves all
 * @param kinds empty when it runs any
 */
public record WorkerInfo(
    String name,
    String host,
    Map<String, String> labels,
    Optional<String> tenant,
    Set<String> queues,
    Optional<Set<String>> kinds) {

  public WorkerInfo {
    labels = Map.copyOf(labels);
    queues = Set.copyOf(queues);
    kinds = kinds.map(Set::copyOf);
  }
}
