package dev.holdfast.tenant;

import java.util.ArrayList;
import java.util.List;
import java.util.stream.Collectors;

/**
 * Tenants that are asked the same thing with one statement, because a thousand of them would
 * otherwise be a thousand statements.
 *
 * @param sql the question, put together from one whole piece for each
 */
public record TenantGroup(List<Tenant> tenants, String sql) {

  private static final int MOST = 50;

  /**
   * All of these, in groups.
   *
   * @param piece asks one; its answers begin with {@code '{schema}' AS schema_name}
   */
  public static List<TenantGroup> of(List<Tenant> tenants, String piece) {
    List<TenantGroup> groups = new ArrayList<>();
    for (int from = 0; from < tenants.size(); from += MOST) {
      List<Tenant> some = tenants.subList(from, Math.min(from + MOST, tenants.size()));
      String sql =
          some.stream()
              .map(tenant -> tenant.db().sql(piece))
              .collect(Collectors.joining(" UNION ALL "));
      groups.add(new TenantGroup(List.copyOf(some), sql));
    }
    return groups;
  }
}
