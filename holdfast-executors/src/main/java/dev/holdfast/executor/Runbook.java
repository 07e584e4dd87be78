package dev.holdfast.executor;

import dev.holdfast.error.HoldfastException;
import java.util.Map;
import java.util.Optional;

/**
 * What a job runs with besides its own arguments: what is registered about its kind and its node.
 *
 * @param node the node that the job names, if it is registered
 * @param ids what the job is about: {@code site_id}, {@code environment_id}, {@code node_id}
 * @param executor the executor that runs the job's kind now, if the source knows it
 */
public record Runbook(
    Optional<String> playbook,
    Optional<NodeAddress> node,
    Map<String, String> ids,
    Optional<String> executor) {

  /** For jobs whose kind is the name of an executor. */
  public static final Runbook NONE = new Runbook(Optional.empty(), Optional.empty(), Map.of());

  public Runbook {
    ids = Map.copyOf(ids);
  }

  /** Checks an id that becomes a variable of playbooks, which may use it in file names. */
  public static String checkedId(String field, String id) {
    if (id.contains("..") || id.contains("/") || id.contains("\\")) {
      throw HoldfastException.invalid(field, id, "an id, without .. and separators");
    }
    return id;
  }

  public Runbook(Optional<String> playbook, Optional<NodeAddress> node, Map<String, String> ids) {
    this(playbook, node, ids, Optional.empty());
  }
}
