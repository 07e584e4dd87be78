package dev.holdfast.fleet;

import dev.holdfast.tenant.TenantName;
import java.util.HashMap;
import java.util.HashSet;
import java.util.Map;
import java.util.Set;
import org.jdbi.v3.core.result.RowView;

/**
 * Which hosts have a live worker, tenant by tenant: one tenant's jobs wait for no host of
 * another's, and so nobody can make them wait, or learn by their waiting who is there.
 */
record OnlineHosts(Map<String, Set<String>> byTenant) {

  // What no tenant is called: of workers that serve all of them.
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
