package dev.holdfast.executor;

import dev.holdfast.error.HoldfastException;
import java.util.Map;
import java.util.Optional;

/**
 * What a job is run with beside its own arguments: what people registered about its kind, and about
 * the node that it is for.
 *
 * @param node the one that the job names, if there is such a one
 * @param ids what the job is about: {@code site_id}, {@code environment_id}, {@code node_id}
 * @param executor what runs jobs of its kind now, where whoever was asked knows
 */
public record Runbook(
    Optional<String> playbook,
    Optional<NodeAddress> node,
    Map<String, String> ids,
    Optional<String> executor) {

  /** Of a job whose kind is nothing more than an executor's name. */
  public static final Runbook NONE = new Runbook(Optional.empty(), Optional.empty(), Map.of());

  public Runbook {
    ids = Map.copyOf(ids);
  }

  /** An id that becomes a variable of playbooks, which may make a file's name of it. */
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
