package dev.holdfast.server.tenancy;

import dev.holdfast.error.ErrorCode;
import dev.holdfast.error.HoldfastException;
import dev.holdfast.executor.NodeAddress;
import dev.holdfast.executor.Runbook;
import dev.holdfast.job.Job;
import dev.holdfast.job.Policy;
import dev.holdfast.job.Subject;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/** Finds what a job runs with, in the registries of its tenant. */
public final class Runbooks {

  private static final String SITE = "site:";
  private static final String NODE = "node:";

  private Runbooks() {}

  /**
   * The runbook of a job. A job that names several nodes gets none of them, because a playbook runs
   * on one. Refuses a job that was enqueued when something else ran its kind: its submitter might
   * not have been allowed to give these arguments to what runs it now.
   *
   * @param services the services of the job's tenant
   */
  public static Runbook of(TenantServices services, Job job) {
    KindInfo kind = services.kinds().get(job.kind());
    requireSame(kind, job);
    Map<String, String> ids = new HashMap<>();
    only(job, SITE).ifPresent(id -> ids.put("site_id", id));
    only(job, NODE).ifPresent(id -> ids.put("node_id", id));
    job.needs().subject().ifPresent(subject -> putSubject(ids, subject));
    Optional<NodeAddress> node =
        Optional.ofNullable(ids.get("node_id")).flatMap(services.nodes()::find).map(Node::address);
    return new Runbook(kind.playbook(), node, ids, kind.executor());
  }

  // A job without a mark contains no command (JobSpec), but its variables for a playbook may
  // contradict its kind.
  private static void requireSame(KindInfo kind, Job job) {
    String then =
        job.policy()
            .enqueuedAs()
            .orElseGet(() ->
                kind.settings().filter(fixed -> !fixed.agreesWith(job.args())).isPresent()
                    ? Policy.BY_WORKERS
                    : kind.runBy());
    if (!then.equals(kind.runBy())) {
      throw new HoldfastException(
          ErrorCode.STATE_CONFLICT,
          "The job was enqueued when kind %s was run by %s; now it is by %s. Enqueue it anew"
              .formatted(kind.name(), shown(then), shown(kind.runBy())));
    }
  }

  private static String shown(String executor) {
    return executor.equals(Policy.BY_WORKERS) ? "no executor" : "the executor " + executor;
  }

  private static void putSubject(Map<String, String> ids, Subject subject) {
    switch (subject.type()) {
      case "environment" -> ids.put("environment_id", subject.id());
      case "site" -> ids.putIfAbsent("site_id", subject.id());
      default -> {} // a type of the application's own, which playbooks do not get
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
}
