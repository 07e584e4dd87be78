package dev.holdfast.server.tenancy;

import dev.holdfast.Holdfast;
import dev.holdfast.error.ErrorCode;
import dev.holdfast.error.HoldfastException;
import dev.holdfast.executor.KindCatalog;
import dev.holdfast.executor.Runbook;
import dev.holdfast.loop.Loop;
import dev.holdfast.tenant.Survey;
import dev.holdfast.tenant.Tenant;
import dev.holdfast.tenant.TenantName;
import dev.holdfast.worker.JobContext;
import java.time.Duration;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.stream.Collectors;

/**
 * The kinds of all tenants that have an executor, for the executors of this node. New registrations
 * are known after a few seconds. Thread-safe.
 */
public final class Registry implements KindCatalog, Loop.Step {

  private static final Duration PERIOD = Duration.ofSeconds(2);

  private static final String EXECUTORS =
      """
      SELECT '{schema}' AS schema_name, name, executor FROM {schema}.kind WHERE executor IS NOT NULL
      """;

  private final Holdfast holdfast;
  private final Survey executors = new Survey(EXECUTORS);
  private final OpenTenants openTenants;
  private volatile Map<String, Map<String, String>> byTenant = Map.of();

  public Registry(Holdfast holdfast, OpenTenants openTenants) {
    this.holdfast = holdfast;
    this.openTenants = openTenants;
  }

  @Override
  public Duration runOnce() {
    List<Tenant> tenants =
        holdfast.tenants().list().stream().map(holdfast.tenants()::tenant).toList();
    Map<String, Map<String, String>> found = new HashMap<>();
    executors
        .ask(tenants, (row, context) -> Map.entry(row.getString("name"), row.getString("executor")))
        .forEach((tenant, kinds) ->
            found.put(
                tenant.name().value(),
                kinds.stream().collect(Collectors.toMap(Map.Entry::getKey, Map.Entry::getValue))));
    byTenant = Map.copyOf(found);
    return PERIOD;
  }

  @Override
  public Set<String> kinds(Set<String> executors) {
    return byTenant.values().stream()
        .flatMap(kinds -> kinds.entrySet().stream())
        .filter(kind -> executors.contains(kind.getValue()))
        .map(Map.Entry::getKey)
        .collect(Collectors.toUnmodifiableSet());
  }

  @Override
  public Map<String, String> executors(String tenant) {
    return byTenant.getOrDefault(tenant, Map.of());
  }

  @Override
  public Runbook runbook(JobContext job) {
    TenantServices services = openTenants.of(new TenantName(job.tenant()));
    return Runbooks.of(
        services,
        services
            .jobs()
            .get(job.jobId())
            .orElseThrow(
                () -> new HoldfastException(ErrorCode.NOT_FOUND, "no job " + job.jobId())));
  }
}
