package dev.holdfast.fleet;

import java.util.Map;
import java.util.Optional;
import java.util.Set;

/**
 * What a worker says about itself, to be shown, and to explain why a job does not run.
 *
 * @param tenant the tenant that it serves; empty is all
 * @param kinds the kinds that it runs; empty is any
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
