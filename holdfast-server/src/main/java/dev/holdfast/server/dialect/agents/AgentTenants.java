package dev.holdfast.server.dialect.agents;

import dev.holdfast.Holdfast;
import dev.holdfast.error.HoldfastException;
import dev.holdfast.executor.files.SharedDirectory;
import dev.holdfast.fleet.RemoteWorkers;
import dev.holdfast.job.Job;
import dev.holdfast.loop.Loop;
import dev.holdfast.server.AgentSettings;
import dev.holdfast.server.api.TenantFiles;
import dev.holdfast.tenant.SqlErrors;
import dev.holdfast.tenant.Survey;
import dev.holdfast.tenant.Tenant;
import dev.holdfast.tenant.TenantName;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The tenants whose agents this node serves. The default tenant has the shared directory itself,
 * any other one of its own beside that: containers are given their tenant's whole, so none may be
 * in another. A round shows what others did since the last: the reaper, people, other nodes that
 * came to their end in between. Thread-safe.
 */
public final class AgentTenants implements Loop.Step, TenantFiles {

  private static final Logger log = LoggerFactory.getLogger(AgentTenants.class);

  private static final Duration PACE = Duration.ofSeconds(1);
  private static final int ROUNDS_PER_SEARCH = 30;
  private static final int ROUNDS_PER_TIDYING = 600;

  /** Following may take so much of the time, and no more. */
  private static final int SHARE = 20;

  private static final String IN_USE =
      """
      SELECT '{schema}' AS schema_name WHERE EXISTS (SELECT FROM {schema}.agent_job)
      """;

  private final Holdfast holdfast;
  private final RemoteWorkers workers;
  private final Survey inUse = new Survey(IN_USE);
  private final AgentSettings settings;
  private final DroppedFiles dropped;
  private final Map<TenantName, AgentServices> openTenants = new ConcurrentHashMap<>();
  private long rounds;

  public AgentTenants(Holdfast holdfast, RemoteWorkers workers, AgentSettings settings) {
    this.holdfast = holdfast;
    this.workers = workers;
    this.settings = settings;
    this.dropped = new DroppedFiles(settings);
  }

  AgentSettings settings() {
    return settings;
  }

  AgentServices of(Tenant tenant) {
    return openTenants.computeIfAbsent(
        tenant.name(), name -> AgentServices.open(holdfast, workers, tenant, directory(name)));
  }

  private SharedDirectory directory(TenantName name) {
    return SharedDirectory.at(settings.directoryOf(name));
  }

  @Override
  public void delete(TenantName name) {
    openTenants.remove(name);
    dropped.delete(name);
  }

  @Override
  public void setAside(TenantName name) {
    dropped.setAside(name);
    openTenants.remove(name);
  }

  /** Puts right what became of files while no node looked. */
  public void repairAll() {
    dropped.clear();
    List<TenantName> used = search();
    used.forEach(this::requireMoved);
    used.forEach(name -> tried(name, () -> repair(name)));
  }

  /** Refuses to go on without files that an earlier version put below the default tenant's. */
  public void requireMoved(TenantName name) {
    Path before = settings.directory().resolve("tenants").resolve(name.value());
    Path now = settings.directoryOf(name);
    if (!name.equals(TenantName.DEFAULT)
        && Files.isDirectory(before, LinkOption.NOFOLLOW_LINKS)
        && Files.notExists(now)) {
      throw HoldfastException.badConfig(
          "shared-dir",
          settings.directory(),
          "a directory without other tenants' files: move " + before + " to " + now);
    }
  }

  /** The same for one tenant. */
  public void repair(TenantName name) {
    of(holdfast.tenants().open(name)).repair();
  }

  /** Shows an agents' job that somebody acted on by other means than the agents' own. */
  public void acted(Tenant tenant, Job job) {
    if (job.queue().equals(Simulation.QUEUE) && job.kind().equals(Simulation.KIND)) {
      tried(tenant.name(), () -> of(tenant).files().show(job.id()));
    }
  }

  private List<TenantName> search() {
    List<Tenant> all = holdfast.tenants().list().stream().map(holdfast.tenants()::tenant).toList();
    return inUse.ask(all, (row, context) -> true).keySet().stream().map(Tenant::name).toList();
  }

  @Override
  public Duration runOnce() {
    long began = System.nanoTime();
    if (rounds++ % ROUNDS_PER_SEARCH == 0) {
      search().forEach(name -> tried(name, () -> of(holdfast.tenants().open(name))));
    }
    boolean tidies = rounds % ROUNDS_PER_TIDYING == 0;
    for (Map.Entry<TenantName, AgentServices> services : Set.copyOf(openTenants.entrySet())) {
      tried(
          services.getKey(),
          () -> {
            services.getValue().follow();
            if (tidies) {
              services.getValue().tidy();
            }
          });
    }
    Duration rest = Duration.ofNanos((System.nanoTime() - began) * SHARE);
    return rest.compareTo(PACE) > 0 ? rest : PACE;
  }

  /** One round for one tenant, as a test would have it. */
  public int follow(TenantName name) {
    return of(holdfast.tenants().open(name)).follow();
  }

  /** Lets go of what is no longer remembered of one tenant, as rounds do now and then. */
  public void tidy(TenantName name) {
    of(holdfast.tenants().open(name)).tidy();
  }

  // What is wrong with one tenant must not keep the others from it; one that was dropped is no
  // news.
  private void tried(TenantName name, Runnable work) {
    try {
      work.run();
    } catch (RuntimeException e) {
      if (SqlErrors.isTenantGone(e)) {
        openTenants.remove(name);
      } else {
        log.warn("Could not see to the agents' files of tenant {}", name, e);
      }
    }
  }
}
