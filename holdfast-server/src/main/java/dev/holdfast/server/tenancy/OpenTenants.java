package dev.holdfast.server.tenancy;

import dev.holdfast.Holdfast;
import dev.holdfast.error.ErrorCode;
import dev.holdfast.error.HoldfastException;
import dev.holdfast.fleet.Hosts;
import dev.holdfast.tenant.Tenant;
import dev.holdfast.tenant.TenantName;
import dev.holdfast.tenant.Tenants;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.Function;
import org.jdbi.v3.core.Handle;

/**
 * The tenants that this node has been asked about. Opening one looks at its tables, so it is done
 * once. One that another node dropped since answers that there is no such tenant, by its missing
 * tables; one that was made anew under its name is served as well, because all that is kept of it
 * here is its name. Thread-safe.
 */
public final class OpenTenants {

  private final Holdfast holdfast;
  private final Function<TenantName, Hosts> hostsOf;
  private final Map<String, String> environment;
  private final Map<TenantName, TenantServices> openTenants = new ConcurrentHashMap<>();

  public OpenTenants(Holdfast holdfast, Function<TenantName, Hosts> hostsOf) {
    this(holdfast, hostsOf, Map.of());
  }

  /**
   * The same, with an environment.
   *
   * @param environment seeds settings that are not stored yet
   */
  public OpenTenants(
      Holdfast holdfast, Function<TenantName, Hosts> hostsOf, Map<String, String> environment) {
    this.holdfast = holdfast;
    this.hostsOf = hostsOf;
    this.environment = Map.copyOf(environment);
  }

  public TenantServices of(TenantName name) {
    TenantServices known = openTenants.get(name);
    if (known != null) {
      return known;
    }
    // Outside the map: it asks the database, and others must not wait for that.
    TenantServices opened = open(name);
    TenantServices earlier = openTenants.putIfAbsent(name, opened);
    return earlier == null ? opened : earlier;
  }

  /**
   * The same for urgent requests. Whether a tenant exists is found out over connections of their
   * own; only one that exists is then opened.
   */
  public TenantServices atOnce(TenantName name) {
    if (!openTenants.containsKey(name)) {
      Tenant unused = tenant(holdfast.reserved(), name);
    }
    return of(name);
  }

  public void forget(TenantName name) {
    openTenants.remove(name);
  }

  /**
   * Seeds the settings of a new tenant, in the transaction that creates it: none of its jobs runs
   * with other settings.
   */
  public void seed(Handle handle, TenantName name) {
    new Settings(holdfast.tenants().tenant(name)).seed(handle, environment);
  }

  // What it takes to make one is told to those who write Java, and not to who asks for it here.
  private static Tenant tenant(Tenants tenants, TenantName name) {
    try {
      return tenants.open(name);
    } catch (HoldfastException e) {
      throw e.code() == ErrorCode.NOT_FOUND
          ? new HoldfastException(ErrorCode.NOT_FOUND, "no tenant " + name, e)
          : e;
    }
  }

  private TenantServices open(TenantName name) {
    Tenant tenant = tenant(holdfast.tenants(), name);
    Hosts hosts = hostsOf.apply(name);
    Settings settings = new Settings(tenant);
    // An application may have created the tenant, or a node with another environment.
    settings.seed(environment);
    return new TenantServices(
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
        new TenantServices.ReservedServices(
            holdfast.remotePulse(name, hosts),
            holdfast.reservedJobs(name),
            new Settings(holdfast.reserved().tenant(name))),
        new Kinds(tenant.db()),
        new Nodes(tenant.db()),
        settings,
        new Webhooks(tenant.db()),
        new PullSecret(tenant.db(), holdfast.reserved().tenant(name).db()));
  }
}
