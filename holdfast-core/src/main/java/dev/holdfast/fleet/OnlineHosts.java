package dev.holdfast.fleet;

import dev.holdfast.tenant.TenantName;
import java.util.HashMap;
import java.util.HashSet;
import java.util.Map;
import java.util.Set;
import org.jdbi.v3.core.result.RowView;

/**
 * Which hosts have a live worker, by tenant. The jobs of a tenant do not wait for hosts of another,
 * so no tenant can delay another's jobs, or learn from a delay which hosts another has.
 */
record OnlineHosts(Map<String, Set<String>> byTenant) {

  // The key of workers that serve all tenants; no tenant has this name.
  private static final String ALL = "";

  static OnlineHosts empty() {
    return new OnlineHosts(new HashMap<>());
  }

  /** Adds a row of {@code tenant} and {@code host}. */
  OnlineHosts add(RowView row) {
    String tenant = row.getColumn("tenant", String.class);
    byTenant
        .computeIfAbsent(tenant == null ? ALL : tenant, key -> new HashSet<>())
        .add(row.getColumn("host", String.class));
    return this;
  }

  Set<String> of(TenantName tenant) {
    Set<String> own = byTenant.getOrDefault(tenant.value(), Set.of());
    Set<String> everybodys = byTenant.getOrDefault(ALL, Set.of());
    if (everybodys.isEmpty()) {
      return own;
    }
    Set<String> both = new HashSet<>(everybodys);
    both.addAll(own);
    return both;
  }
}
