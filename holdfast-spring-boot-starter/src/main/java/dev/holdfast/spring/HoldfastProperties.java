package dev.holdfast.spring;

import dev.holdfast.error.HoldfastException;
import dev.holdfast.job.Placement;
import dev.holdfast.tenant.SchemaName;
import dev.holdfast.tenant.TenantName;
import dev.holdfast.worker.WorkerConfig;
import java.time.Duration;
import java.util.Map;
import java.util.Set;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;
import org.springframework.boot.context.properties.ConfigurationProperties;
import org.springframework.boot.context.properties.bind.DefaultValue;

/**
 * What can be set. A value that cannot be right stops the start, with the property's name.
 *
 * @param enabled Whether there is a Holdfast at all.
 * @param migrate Whether tables are created or upgraded at start, which needs DDL rights. Where it
 *     is false, somebody else has to.
 * @param schema Schema that lists the tenants. A tenant's own is named schema_tenant.
 * @param tenant Tenant whose jobs are enqueued and run.
 */
@ConfigurationProperties("holdfast")
public record HoldfastProperties(
    @DefaultValue("true") boolean enabled,
    @DefaultValue("true") boolean migrate,
    @DefaultValue("holdfast") String schema,
    @DefaultValue("default") String tenant,
    @DefaultValue Worker worker,
    @DefaultValue Scheduler scheduler) {

  public HoldfastProperties {
    named("holdfast.", () -> new TenantName(tenant).schemaUnder(new SchemaName(schema)));
    worker.config(); // refuses what it cannot be made of
  }

  TenantName tenantName() {
    return new TenantName(tenant);
  }

  /**
   * How the worker works.
   *
   * @param enabled Whether this process runs jobs, if it has handlers.
   * @param name Who holds the leases, in tables and logs. Defaults to host name and process id.
   * @param host Where jobs that ask for a host find this worker. Defaults to the host name.
   * @param labels Jobs that ask for labels run only where all of theirs are.
   * @param queues Queues that it serves.
   * @param concurrency Most jobs it runs at once.
   * @param pollInterval How long a job can stay unnoticed when its notification got lost.
   * @param heartbeatInterval How often leases are renewed and stop requests seen.
   * @param drainTimeout How long a stopping application waits for running jobs before it interrupts
   *     and hands them back. Defaults to what the environment variable
   *     SHUTDOWN_GRACE_PERIOD_SECONDS says, or to 5 minutes.
   */
  public record Worker(
      @DefaultValue("true") boolean enabled,
      @Nullable String name,
      @Nullable String host,
      @DefaultValue Map<String, String> labels,
      @DefaultValue("default") Set<String> queues,
      @DefaultValue("16") int concurrency,
      @DefaultValue("2s") Duration pollInterval,
      @DefaultValue("2s") Duration heartbeatInterval,
      @Nullable Duration drainTimeout) {

    WorkerConfig config() {
      WorkerConfig defaults = WorkerConfig.defaults();
      Map<String, String> checked =
          named("holdfast.worker.", () -> Placement.checkedLabels(labels));
      return named(
          "holdfast.",
          () ->
              new WorkerConfig(
                  name == null ? defaults.name() : name,
                  host == null ? defaults.host() : host,
                  checked,
                  queues,
                  concurrency,
                  pollInterval,
                  heartbeatInterval,
                  drainTimeout == null ? defaults.drainTimeout() : drainTimeout));
    }
  }

  /**
   * Who decides about the slots of schedules.
   *
   * @param enabled Whether this process decides about the slots of schedules. By default it does if
   *     the application has Schedule beans.
   */
  public record Scheduler(@Nullable Boolean enabled) {}

  // The core names its settings as they are named here, but for what comes before. Its exception is
  // not the cause of ours, because Spring shows people only the message of the last cause.
  private static <T> T named(String prefix, Supplier<T> checked) {
    try {
      return checked.get();
    } catch (HoldfastException e) {
      throw new HoldfastException(e.code(), prefix + e.getMessage());
    }
  }
}
