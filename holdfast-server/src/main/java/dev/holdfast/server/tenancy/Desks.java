package dev.holdfast.server.tenancy;

import dev.holdfast.Holdfast;
import dev.holdfast.fleet.Hosts;
import dev.holdfast.tenant.Tenant;
import dev.holdfast.tenant.TenantName;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;

/**
 * The tenants that this node has been asked about. Opening one looks at its tables, so it is done
 * once. One that another node dropped since answers that there is no such tenant, by its missing
 * tables; one that was made anew under its name is served as well, because all that is kept of it
 * here is its name. Thread-safe.
 */
public final class Desks {

  private final Holdfast holdfast;
  private final Hosts hosts;
  private final Map<TenantName, Desk> desks = new ConcurrentHashMap<>();

  public Desks(Holdfast holdfast, Hosts hosts) {
    this.holdfast = holdfast;
    this.hosts = hosts;
  }

  public Desk of(TenantName name) {
    Desk known = desks.get(name);
    if (known != null) {
      return known;
    }
    // Outside the map: it asks the database, and others must not wait for that.
    Desk opened = open(name);
    Desk earlier = desks.putIfAbsent(name, opened);
    return earlier == null ? opened : earlier;
  }

  public void forget(TenantName name) {
    desks.remove(name);
  }

  private Desk open(TenantName name) {
    Tenant tenant = holdfast.tenants().open(name);
    return new Desk(
        tenant,
        holdfast.jobs(name),
        holdfast.acts(name),
        holdfast.queues(name),
        holdfast.resources(name),
        holdfast.schedules(name),
        holdfast.subjects(name),
        holdfast.audit(name),
        holdfast.invariants(name),
        holdfast.overview(name),
        holdfast.remoteLeases(name, hosts),
        new Desk.Pulse(holdfast.remotePulse(name, hosts), holdfast.pulseJobs(name)),
        new Kinds(tenant.db()),
        new Nodes(tenant.db()),
        new Settings(tenant),
        new Webhooks(tenant.db()),
        new PullSecret(tenant.db(), holdfast.reserved().tenant(name).db()));
  }
}
