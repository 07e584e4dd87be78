package dev.holdfast.server;

import dev.holdfast.Holdfast;
import dev.holdfast.executor.JobExecutors;
import dev.holdfast.fleet.RemoteWorkers;
import dev.holdfast.loop.Loop;
import dev.holdfast.metrics.MicrometerListener;
import dev.holdfast.schedule.Scheduler;
import dev.holdfast.server.api.Routes;
import dev.holdfast.server.api.ServerParts;
import dev.holdfast.server.auth.TokenFile;
import dev.holdfast.server.auth.Tokens;
import dev.holdfast.server.database.Database;
import dev.holdfast.server.dialect.Dialects;
import dev.holdfast.server.dialect.agents.AgentTenants;
import dev.holdfast.server.http.Route;
import dev.holdfast.server.http.Web;
import dev.holdfast.server.notify.Courier;
import dev.holdfast.server.notify.Deliveries;
import dev.holdfast.server.notify.Inspector;
import dev.holdfast.server.poll.Hints;
import dev.holdfast.server.poll.LongPolls;
import dev.holdfast.server.tenancy.OpenTenants;
import dev.holdfast.server.tenancy.PullSecret;
import dev.holdfast.server.tenancy.Registry;
import dev.holdfast.server.tenancy.Setting;
import dev.holdfast.server.ui.Sampler;
import dev.holdfast.server.ui.Ui;
import dev.holdfast.tenant.TenantName;
import dev.holdfast.worker.Worker;
import dev.holdfast.worker.WorkerBuilder;
import io.micrometer.core.instrument.MeterRegistry;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Deque;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import javax.sql.DataSource;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * A node. Any number of them may stand on one database; none remembers anything that the others
 * need. Close it when done.
 */
public final class HoldfastServer implements AutoCloseable {

  private static final Logger log = LoggerFactory.getLogger(HoldfastServer.class);

  private final Deque<AutoCloseable> open = new ArrayDeque<>();
  private final List<Worker> workers = new ArrayList<>();
  private final List<Route> routes;
  private final Ui ui;
  private final Figures figures = new Figures();
  private final LongPolls polls;
  private final AgentTenants agents;
  private final Optional<String> newToken;
  private Optional<Web> web = Optional.empty();
  private volatile boolean draining;

  private HoldfastServer(ServerConfig config, Holdfast holdfast, Map<String, String> environment) {
    holdfast.migrate();
    Tokens tokens = new Tokens(holdfast.tenants().control(), holdfast.reserved().control());
    RemoteWorkers workers = new RemoteWorkers(holdfast.tenants().control());
    OpenTenants openTenants = new OpenTenants(holdfast, workers::hostsOf, environment);
    this.polls = new LongPolls();
    Hints hints = new Hints();
    this.newToken =
        config.trust().auth() ? TokenFile.ensure(config.data(), tokens) : Optional.empty();
    seed(holdfast, openTenants, environment);
    seedSecret(openTenants, environment);
    ServerParts parts =
        new ServerParts(config, holdfast, openTenants, tokens, polls, workers, hints);
    Sampler sampler = new Sampler(holdfast);
    this.agents = new AgentTenants(holdfast, workers, config.agents());
    List<Route> api = Routes.of(parts, agents::acted, agents);
    this.ui = new Ui(parts, sampler, api);
    this.routes = new ArrayList<>(Pages.routes(holdfast, figures, () -> draining));
    routes.addAll(api);
    routes.addAll(Dialects.of(parts, agents));
    routes.addAll(ui.routes());
    routes.addAll(Pages.documents(routes));
    start(parts, sampler, figures.registry());
  }

  // One secret for all tenants would let each one's workers into the others.
  private static void seedSecret(OpenTenants openTenants, Map<String, String> environment) {
    Optional.ofNullable(environment.get(PullSecret.ENVIRONMENT))
        .ifPresent(secret -> openTenants.of(TenantName.DEFAULT).pullSecret().seed(secret));
  }

  // Opening a tenant seeds its settings. Existing tenants are opened now, because their jobs may
  // run before the first request; a new tenant is seeded when it is created.
  private static void seed(
      Holdfast holdfast, OpenTenants openTenants, Map<String, String> environment) {
    boolean saysAnything =
        Arrays.stream(Setting.values()).anyMatch(each -> environment.containsKey(each.name()));
    if (saysAnything) {
      holdfast.tenants().list().forEach(openTenants::of);
    }
  }

  private void start(ServerParts parts, Sampler sampler, MeterRegistry registry) {
    ServerConfig config = parts.config();
    Holdfast holdfast = parts.holdfast();
    OpenTenants openTenants = parts.openTenants();
    try {
      if (config.upkeep()) {
        open.push(holdfast.upkeep());
      }
      if (config.roles().contains(ServerRole.SCHEDULER)) {
        Scheduler scheduler = holdfast.schedulerForAllTenants();
        open.push(scheduler.start());
      }
      if (config.roles().contains(ServerRole.WORKER)) {
        open.push(Loop.start("holdfast-courier", new Courier(holdfast, openTenants)));
        workers.add(
            Deliveries.worker(
                    holdfast.workerForAllTenants().listen(new MicrometerListener(registry)),
                    openTenants,
                    config.trust().receivers())
                .start());
        if (!config.executors().names().isEmpty()) {
          startExecutors(
              config.executors(), holdfast, new Registry(holdfast, openTenants), registry);
        }
      }
      if (config.roles().contains(ServerRole.WEB)) {
        open.push(holdfast.listen());
        open.push(holdfast.onWork(polls::ring));
        open.push(Loop.start("holdfast-workers", parts.workers()));
        open.push(Loop.start("holdfast-inspector", new Inspector(holdfast, registry)));
        open.push(Loop.start("holdfast-sampler", sampler));
        if (config.upkeep()) {
          agents.repairAll();
          open.push(Loop.start("holdfast-agents", agents));
        }
        Web started = Web.start(config, parts.tokens(), openTenants, routes, ui::problem, registry);
        web = Optional.of(started);
        open.push(started);
        open.push(polls); // first, so that nobody who waits keeps the server from ending
      }
    } catch (RuntimeException e) {
      close();
      throw e;
    }
  }

  private void startExecutors(
      ExecutorSettings settings, Holdfast holdfast, Registry kinds, MeterRegistry registry) {
    open.push(Loop.start("holdfast-kinds", kinds));
    if (!settings.forAllTenants().isEmpty()) {
      startExecutors(
          settings.forAllTenants(), settings, holdfast.workerForAllTenants(), kinds, registry);
    }
    if (!settings.forDefaultTenant().isEmpty()) {
      startExecutors(settings.forDefaultTenant(), settings, holdfast.worker(), kinds, registry);
    }
  }

  private void startExecutors(
      Set<String> names,
      ExecutorSettings settings,
      WorkerBuilder worker,
      Registry kinds,
      MeterRegistry registry) {
    JobExecutors executors = JobExecutors.open(names, settings.config());
    open.push(executors);
    workers.add(
        executors
            .installOn(
                worker
                    .configure(
                        config -> config.withQueues(settings.queues().toArray(String[]::new)))
                    .listen(new MicrometerListener(registry)),
                kinds)
            .start());
  }

  /** Starts a node; it is ready when this returns. */
  public static HoldfastServer start(ServerConfig config, Database database) {
    return new HoldfastServer(config, database.holdfast(), System.getenv());
  }

  /**
   * Starts a node on a pool of somebody's, of which nothing is set aside.
   *
   * @param environment seeds settings that are not stored yet
   */
  public static HoldfastServer start(
      ServerConfig config, DataSource dataSource, Map<String, String> environment) {
    return new HoldfastServer(config, Holdfast.on(dataSource), environment);
  }

  /** Where it listens; empty without the web's role. */
  public Optional<Integer> port() {
    return web.map(Web::port);
  }

  /** How many workers wait here for a tenant's work. */
  public int waiting(TenantName tenant) {
    return polls.waiting(tenant);
  }

  /** What agents share with this node. */
  public AgentTenants agents() {
    return agents;
  }

  /** The first token, when this start made it. */
  public Optional<String> newToken() {
    return newToken;
  }

  Figures figures() {
    return figures;
  }

  /** The table of routes. */
  public List<Route> routes() {
    return List.copyOf(routes);
  }

  /**
   * Lets what runs here come to its end, and only then stops serving: meanwhile jobs are put in,
   * looked at and acted on as ever, and remote workers keep their leases.
   */
  @Override
  public void close() {
    draining = true;
    boolean hurried = drain();
    while (!open.isEmpty()) {
      close(open.pop());
    }
    if (hurried) {
      Thread.currentThread().interrupt();
    }
  }

  // All at once: one that waited for its turn would go on claiming. Answers whether whoever closes
  // this was interrupted: workers then hurry, but still need what is closed after them.
  private boolean drain() {
    List<Thread> drains =
        workers.stream().map(each -> Thread.ofVirtual().start(() -> close(each))).toList();
    workers.clear();
    boolean hurried = false;
    while (drains.stream().anyMatch(Thread::isAlive)) {
      try {
        for (Thread each : drains) {
          each.join();
        }
      } catch (InterruptedException e) {
        drains.forEach(Thread::interrupt);
        hurried = true;
      }
    }
    return hurried;
  }

  private static void close(AutoCloseable each) {
    try {
      each.close();
    } catch (Exception e) {
      log.warn("Something did not end well", e);
    }
  }
}
