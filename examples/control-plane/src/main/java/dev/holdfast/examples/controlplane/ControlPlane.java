package dev.holdfast.examples.controlplane;

import dev.holdfast.Holdfast;
import dev.holdfast.audit.Act;
import dev.holdfast.error.ErrorCode;
import dev.holdfast.error.HoldfastException;
import dev.holdfast.executor.ExecutorConfig;
import dev.holdfast.executor.JobExecutors;
import dev.holdfast.executor.KindCatalog;
import dev.holdfast.executor.NodeAddress;
import dev.holdfast.executor.Runbook;
import dev.holdfast.job.Job;
import dev.holdfast.job.NewJob;
import dev.holdfast.job.Subject;
import dev.holdfast.tenant.SchemaName;
import dev.holdfast.tenant.TenantName;
import dev.holdfast.worker.JobContext;
import dev.holdfast.worker.WorkerBuilder;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.HashMap;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.UUID;
import java.util.stream.Collectors;
import javax.sql.DataSource;

/**
 * Clones, deploys and restores environments of sites on nodes: each by a playbook, one at a time
 * for a site and for a node. Thread-safe.
 */
final class ControlPlane implements KindCatalog {

  private static final String SITE = "site:";
  private static final String NODE = "node:";

  /** Who asks, and whether they are an admin. */
  record Person(String name, boolean isAdmin) {}

  private final Tables tables;
  private final Holdfast holdfast;
  private final TenantName tenant;

  ControlPlane(DataSource dataSource, SchemaName schema, TenantName tenant) {
    this.tables = new Tables(dataSource, schema);
    this.holdfast = Holdfast.builder(dataSource).onTransition(tables).build();
    this.tenant = tenant;
    tables.create();
  }

  Tables tables() {
    return tables;
  }

  String state(String environmentId) {
    return environment(environmentId).state();
  }

  private Tables.Environment environment(String id) {
    return tables
        .environment(id)
        .orElseThrow(() -> new HoldfastException(ErrorCode.NOT_FOUND, "no environment " + id));
  }

  /** Enqueues a task for an environment; it runs when nothing else runs on its site or its node. */
  UUID start(Task task, String environmentId, Map<String, String> arguments) {
    Tables.Environment environment = environment(environmentId);
    Map<String, String> args = new HashMap<>(arguments);
    args.put("root", environment.root());
    return holdfast
        .jobs(tenant)
        .enqueue(
            NewJob.of(task.kind(), args)
                .withResources(SITE + environment.siteId(), NODE + environment.nodeId())
                .withSubject(Subject.of("environment", environmentId, task.during())))
        .id();
  }

  /** Nothing is rolled back; a playbook that runs is stopped. */
  Job cancel(UUID id, Person by) {
    if (!by.isAdmin) {
      throw new HoldfastException(ErrorCode.FORBIDDEN, "only an admin can cancel");
    }
    return holdfast.acts(tenant).cancel(id, Act.by(by.name));
  }

  Optional<Job> job(UUID id) {
    return holdfast.jobs(tenant).get(id);
  }

  /** A worker that plays the playbooks of a directory. */
  WorkerBuilder worker(JobExecutors executors) {
    return executors.installOn(holdfast.worker(tenant), this);
  }

  static JobExecutors executors(Path playbooks) {
    return JobExecutors.open(
        Set.of("ansible"),
        ExecutorConfig.DEFAULTS.withSecretsOf(System.getenv()).withPlaybooks(playbooks));
  }

  @Override
  public Set<String> kinds(Set<String> executors) {
    return Arrays.stream(Task.values()).map(Task::kind).collect(Collectors.toUnmodifiableSet());
  }

  @Override
  public Map<String, String> executors(String ofTenant) {
    return kinds(Set.of()).stream().collect(Collectors.toMap(kind -> kind, kind -> "ansible"));
  }

  @Override
  public Runbook runbook(JobContext context) {
    Job job = job(context.jobId()).orElseThrow();
    Map<String, String> ids = new HashMap<>();
    for (String resource : job.needs().resources()) {
      if (resource.startsWith(SITE)) {
        ids.put("site_id", resource.substring(SITE.length()));
      } else if (resource.startsWith(NODE)) {
        ids.put("node_id", resource.substring(NODE.length()));
      }
    }
    job.needs().subject().ifPresent(subject -> ids.put("environment_id", subject.id()));
    Optional<NodeAddress> node = Optional.ofNullable(ids.get("node_id")).flatMap(tables::node);
    return new Runbook(Task.ofKind(job.kind()).map(Task::playbook), node, ids);
  }
}
