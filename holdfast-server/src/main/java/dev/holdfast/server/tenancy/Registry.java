package dev.holdfast.server.tenancy;

import dev.holdfast.Holdfast;
import dev.holdfast.error.ErrorCode;
import dev.holdfast.error.HoldfastException;
import dev.holdfast.executor.KindCatalog;
import dev.holdfast.executor.Runbook;
import dev.holdfast.loop.Loop;
import dev.holdfast.tenant.Tenant;
import dev.holdfast.tenant.TenantName;
import dev.holdfast.worker.JobContext;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.stream.Collectors;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The kinds of all tenants that have an executor, for the executors that this node runs. What was
 * registered is known a few seconds later. Thread-safe.
 */
public final class Registry implements KindCatalog, Loop.Step {

  private static final Logger log = LoggerFactory.getLogger(Registry.class);

  private static final Duration PERIOD = Duration.ofSeconds(2);
  private static final int ASKED_AT_ONCE = 50;

  // Put together for many tenants, from this whole piece.
  private static final String EXECUTORS =
      """
      SELECT '{schema}' AS schema_name, name, executor FROM {schema}.kind WHERE executor IS NOT NULL
      """;

  private record Row(String schema, String kind, String executor) {}

  private final Holdfast holdfast;
  private final Desks desks;
  private volatile Map<String, Map<String, String>> byTenant = Map.of();

  public Registry(Holdfast holdfast, Desks desks) {
    this.holdfast = holdfast;
    this.desks = desks;
  }

  @Override
  public Duration runOnce() {
    List<Tenant> tenants =
        holdfast.tenants().list().stream().map(holdfast.tenants()::tenant).toList();
    Map<String, Map<String, String>> found = new HashMap<>();
    for (int from = 0; from < tenants.size(); from += ASKED_AT_ONCE) {
      List<Tenant> group = tenants.subList(from, Math.min(from + ASKED_AT_ONCE, tenants.size()));
      Map<String, String> names =
          group.stream()
              .collect(
                  Collectors.toMap(
                      tenant -> tenant.db().schema().value(), tenant -> tenant.name().value()));
      for (Row row : askTogether(group)) {
        found
            .computeIfAbsent(names.getOrDefault(row.schema, ""), unseen -> new HashMap<>())
            .put(row.kind, row.executor);
      }
    }
    byTenant = Map.copyOf(found);
    return PERIOD;
  }

  // One that cannot be asked, say because it was just dropped, must not hide the others.
  private List<Row> askTogether(List<Tenant> group) {
    try {
      return ask(group);
    } catch (HoldfastException e) {
      List<Row> rows = new ArrayList<>();
      for (Tenant tenant : group) {
        try {
          rows.addAll(ask(List.of(tenant)));
        } catch (HoldfastException alone) {
          log.debug("Could not ask tenant {} for its kinds", tenant.name(), alone);
        }
      }
      return rows;
    }
  }

  private List<Row> ask(List<Tenant> group) {
    String sql =
        group.stream()
            .map(tenant -> tenant.db().sql(EXECUTORS))
            .collect(Collectors.joining(" UNION ALL "));
    return holdfast
        .tenants()
        .control()
        .withHandle(handle ->
            handle
                .createQuery(sql)
                .map((row, context) ->
                    new Row(
                        row.getString("schema_name"),
                        row.getString("name"),
                        row.getString("executor")))
                .list());
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
    Desk desk = desks.of(new TenantName(job.tenant()));
    return Runbooks.of(
        desk,
        desk.jobs()
            .get(job.jobId())
            .orElseThrow(
                () -> new HoldfastException(ErrorCode.NOT_FOUND, "no job " + job.jobId())));
  }
}
