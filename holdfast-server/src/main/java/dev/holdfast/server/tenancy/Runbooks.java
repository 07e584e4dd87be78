package dev.holdfast.server.tenancy;

import dev.holdfast.executor.NodeAddress;
import dev.holdfast.executor.Runbook;
import dev.holdfast.job.Job;
import dev.holdfast.job.Subject;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/** What jobs are run with, from their tenant's registries. */
public final class Runbooks {

  private static final String SITE = "site:";
  private static final String NODE = "node:";

  private Runbooks() {}

  /**
   * Of a job. One that names several nodes is for none of them: a playbook has one.
   *
   * @param desk its tenant's
   */
  public static Runbook of(Desk desk, Job job) {
    Map<String, String> ids = new HashMap<>();
    only(job, SITE).ifPresent(id -> ids.put("site_id", id));
    only(job, NODE).ifPresent(id -> ids.put("node_id", id));
    job.needs().subject().ifPresent(subject -> putSubject(ids, subject));
    Optional<NodeAddress> node =
        Optional.ofNullable(ids.get("node_id")).flatMap(desk.nodes()::find).map(Runbooks::address);
    return new Runbook(desk.kinds().get(job.kind()).playbook(), node, ids);
  }

  private static void putSubject(Map<String, String> ids, Subject subject) {
    switch (subject.type()) {
      case "environment" -> ids.put("environment_id", subject.id());
      case "site" -> ids.putIfAbsent("site_id", subject.id());
      default -> {} // somebody's own; playbooks know nothing of it
    }
  }

  private static Optional<String> only(Job job, String prefix) {
    List<String> ids =
        job.needs().resources().stream()
            .filter(name -> name.startsWith(prefix))
            .map(name -> name.substring(prefix.length()))
            .toList();
    return ids.size() == 1 ? Optional.of(ids.getFirst()) : Optional.empty();
  }

  private static NodeAddress address(Node node) {
    return new NodeAddress(
        node.id(), node.host(), node.port(), node.user(), node.keyFile(), node.connection());
  }
}
