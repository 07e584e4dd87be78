package dev.holdfast.server.http;

import dev.holdfast.loop.Loop;
import dev.holdfast.server.ServerConfig;
import dev.holdfast.server.auth.Principal;
import dev.holdfast.server.auth.Sessions;
import dev.holdfast.server.auth.Tokens;
import dev.holdfast.server.tenancy.OpenTenants;
import dev.holdfast.server.tenancy.TenantServices;
import dev.holdfast.tenant.TenantName;
import io.javalin.Javalin;
import io.javalin.config.JavalinConfig;
import io.javalin.http.Context;
import io.javalin.http.HandlerType;
import io.javalin.http.HttpResponseException;
import io.micrometer.core.instrument.MeterRegistry;
import java.nio.channels.ClosedChannelException;
import java.time.Duration;
import java.util.Collection;
import java.util.List;
import java.util.Set;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.BooleanSupplier;
import java.util.function.Supplier;
import org.eclipse.jetty.io.EndPoint;
import org.eclipse.jetty.io.EofException;
import org.eclipse.jetty.server.HttpConfiguration;
import org.eclipse.jetty.server.HttpConnectionFactory;
import org.eclipse.jetty.server.Server;
import org.eclipse.jetty.server.ServerConnector;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The HTTP server: every request passes the gate, goes to its row of the route table, and is
 * answered.
 */
public final class Web implements AutoCloseable {

  private static final Logger log = LoggerFactory.getLogger(Web.class);

  private static final Duration STOP_TIMEOUT = Duration.ofSeconds(5);

  // Longer than any client may wait for an answer: otherwise a connection could be closed as idle
  // at the very moment its wait is over.
  private static final Duration IDLE = Duration.ofSeconds(75);
  private static final int MOST_ARRIVING = 4_096;

  // Called by address, whatever names the server has.
  private static final Set<String> PROBES = Set.of("/healthz", "/readyz");

  private final ServerConfig config;
  private final Gate gate;
  private final OpenTenants openTenants;
  private final ErrorPage errorPage;
  private final MeterRegistry registry;
  private final Style.Neighbours neighbours;
  private final List<ServerConnector> connectors = new CopyOnWriteArrayList<>();
  private final Ending ending = new Ending();
  private final Javalin javalin;
  private final Loop dawdlers;

  private Web(
      ServerConfig config,
      Tokens tokens,
      OpenTenants openTenants,
      List<Route> routes,
      ErrorPage errorPage,
      MeterRegistry registry) {
    this.config = config;
    this.gate =
        new Gate(
            config,
            tokens,
            new Sessions(tokens),
            new Throttle(config.limits().perSecond(), System::nanoTime));
    this.errorPage = errorPage;
    this.openTenants = openTenants;
    this.registry = registry;
    this.neighbours = new Style.Neighbours(routes);
    this.javalin = Javalin.create(javalin -> configure(javalin, routes)).start();
    this.dawdlers =
        Loop.start(
            "holdfast-dawdlers",
            new Dawdlers(this::connections, System::nanoTime, config.limits().patience()));
  }

  /** Makes the page that tells people what went wrong. */
  @FunctionalInterface
  public interface ErrorPage {
    Answer of(Context http, Refusal refusal);
  }

  public static Web start(
      ServerConfig config,
      Tokens tokens,
      OpenTenants openTenants,
      List<Route> routes,
      ErrorPage errorPage,
      MeterRegistry registry) {
    return new Web(config, tokens, openTenants, routes, errorPage, registry);
  }

  /** All open connections. */
  Collection<EndPoint> connections() {
    return connectors.stream()
        .flatMap(connector -> connector.getConnectedEndPoints().stream())
        .toList();
  }

  private void configure(JavalinConfig javalin, List<Route> routes) {
    javalin.startup.showJavalinBanner = false;
    javalin.startup.showOldJavalinVersionWarning = false;
    javalin.concurrency.useVirtualThreads = true;
    javalin.http.maxRequestSize = config.limits().mostBytes();
    javalin.http.prefer405over404 = true;
    javalin.router.ignoreTrailingSlashes = false;
    javalin.router.caseInsensitiveRoutes = false;
    // Requests that are being answered at the stop still get their answers; without a timeout,
    // Jetty may leave connections open.
    javalin.jetty.modifyServer(server -> {
      server.setStopTimeout(STOP_TIMEOUT.toMillis());
      server.setErrorHandler(new UnreadableRequests(neighbours));
    });
    javalin.jetty.modifyHttpConfiguration(http -> {
      http.setSendServerVersion(false);
      http.setSendDateHeader(false);
      http.addCustomizer(config.trust().proxies());
    });
    javalin.jetty.addConnector((server, http) -> {
      ServerConnector connector = connector(server, http);
      connectors.add(connector);
      return connector;
    });
    routes.forEach(route -> add(javalin, route));
    javalin.routes.exception(
        HttpResponseException.class,
        (e, http) -> {
          if (e.getStatus() == 405) { // its details are the allowed methods
            e.getDetails().values().forEach(methods -> http.header("Allow", methods));
          }
          Sending.send(http, answer(http, neighbours.of(http.path()), refusal(e)));
        });
    javalin.routes.exception(
        Exception.class,
        (e, http) ->
            Sending.send(http, answer(http, neighbours.of(http.path()), Problems.refusal(e))));
    javalin.routes.after(Sending::dress);
  }

  private ServerConnector connector(Server server, HttpConfiguration http) {
    ServerConnector connector =
        config
            .address()
            .tls()
            .map(tls -> tls.connector(server, http))
            .orElseGet(() -> new ServerConnector(server, new HttpConnectionFactory(http)));
    connector.setHost(config.address().host());
    connector.setPort(config.address().port());
    connector.setIdleTimeout(IDLE.toMillis());
    // After a restart all workers connect at once; connections that do not fit in are refused.
    connector.setAcceptQueueSize(MOST_ARRIVING);
    return connector;
  }

  private void add(JavalinConfig javalin, Route route) {
    javalin.routes.addHttpHandler(
        HandlerType.findOrCreate(route.method().name()), route.path(), http -> timed(route, http));
    if (route.method() == Route.Method.GET) {
      // Without this, Javalin would answer HEAD for every path and every caller as if all were
      // well.
      javalin.routes.addHttpHandler(
          HandlerType.HEAD,
          route.path(),
          http -> {
            if (route.waits()) {
              throw new HttpResponseException(405, "there is no end to ask for");
            }
            timed(route, http);
          });
    }
  }

  private static Refusal refusal(HttpResponseException e) {
    return new Refusal(e.getStatus(), code(e.getStatus()), String.valueOf(e.getMessage()));
  }

  private static String code(int status) {
    return switch (status) {
      case 404 -> "NO_SUCH_PATH";
      case 405 -> "METHOD_NOT_ALLOWED";
      case 413 -> "TOO_LARGE";
      default -> "REFUSED";
    };
  }

  private void timed(Route route, Context http) throws Exception {
    if (route.waits()) {
      serve(route, http);
      return;
    }
    long began = System.nanoTime();
    try {
      serve(route, http);
    } finally {
      registry
          .timer("holdfast.http.requests", "method", route.method().name(), "path", route.path())
          .record(System.nanoTime() - began, TimeUnit.NANOSECONDS);
    }
  }

  private void serve(Route route, Context http) throws Exception {
    Answer answer;
    try {
      if (!PROBES.contains(route.path())) {
        gate.checkOrigin(http, route.style());
      }
      answer = route.handler().handle(request(route, http));
    } catch (HttpResponseException e) {
      answer = answer(http, route.style(), refusal(e));
    } catch (EofException | ClosedChannelException e) { // closed: we hung up on them
      log.debug("Somebody went away in the midst of {}", route, e);
      answer =
          route.style().answer(new Refusal(400, "UNREADABLE", "The request ended before its end"));
    } catch (TimeoutException e) {
      answer =
          route.style().answer(new Refusal(408, "TIMEOUT", "The request did not come to its end"));
    } catch (Exception e) {
      answer = answer(http, route.style(), Problems.refusal(e));
    }
    Sending.send(http, answer);
  }

  private Answer answer(Context http, Style style, Refusal refusal) {
    return style == Style.PAGE ? errorPage.of(http, refusal) : style.answer(refusal);
  }

  private Request request(Route route, Context http) {
    boolean isForm = route.isPage() && route.method() != Route.Method.GET;
    if (route.role().isEmpty()) {
      if (isForm) {
        gate.checkSize(http);
        gate.checkForm(http, TenantName.DEFAULT); // no session yet, so no tenant
      }
      return new Request(route, http, Principal.EVERYBODY, Web::noTenant, () -> true, ending);
    }
    gate.checkVersion(http);
    Principal principal = gate.identify(http, route);
    gate.authorise(principal, route.role().get());
    gate.checkQueries(http, route);
    BooleanSupplier known = () -> gate.isKnown(http, route);
    if (route.scope() == Route.Scope.SYSTEM && !route.isPage()) {
      return new Request(route, http, principal, Web::noTenant, known, ending);
    }
    TenantName tenant = Gate.tenant(http, route, principal);
    if (isForm) {
      gate.checkForm(http, tenant);
    }
    return new Request(route, http, principal, once(() -> openTenants.of(tenant)), known, ending);
  }

  private static TenantServices noTenant() {
    throw new IllegalStateException("this route is about no tenant");
  }

  // A request that is answered before it uses its tenant must not open the tenant for nothing.
  private static <T> Supplier<T> once(Supplier<T> make) {
    AtomicReference<@Nullable T> made = new AtomicReference<>();
    return () -> {
      T there = made.get();
      if (there == null) {
        there = make.get();
        made.set(there);
      }
      return there;
    };
  }

  public int port() {
    return javalin.port();
  }

  /** Stops accepting requests, ends streams, and waits a little for what else is being answered. */
  @Override
  public void close() {
    ending.begin();
    dawdlers.close();
    javalin.stop();
  }
}
