package dev.holdfast.tenant;

import org.jdbi.v3.core.Handle;

/** What control tables know of dropped tenants, and a tenant of the same name is not to get. */
public final class Namesakes {

  private static final String HAD =
      """
      SELECT EXISTS (SELECT FROM {schema}.dropped_tenant WHERE name IN (:name, :any))
      """;

  // Locked in one order, or this and a round of heartbeats could wait for each other.
  private static final String FORGET_WORKERS =
      """
      WITH gone AS MATERIALIZED (
        SELECT incarnation
          FROM {schema}.worker
         WHERE tenant = :name
         ORDER BY incarnation
           FOR UPDATE
      )
      DELETE FROM {schema}.worker
       WHERE incarnation = ANY (ARRAY (SELECT incarnation FROM gone))
      """;

  private final SchemaName control;

  Namesakes(SchemaName control) {
    this.control = control;
  }

  boolean had(Handle handle, TenantName tenant) {
    return handle
        .createQuery(control.render(HAD))
        .bind("name", tenant.value())
        .bind("any", Tenants.ANY)
        .mapTo(Boolean.class)
        .one();
  }

  void forgetWorkers(Handle handle, TenantName tenant) {
    handle.createUpdate(control.render(FORGET_WORKERS)).bind("name", tenant.value()).execute();
  }
}
