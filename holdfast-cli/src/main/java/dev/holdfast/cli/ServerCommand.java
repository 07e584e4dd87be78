package dev.holdfast.cli;

import dev.holdfast.error.HoldfastException;
import dev.holdfast.executor.JobExecutors;
import dev.holdfast.server.AgentSettings;
import dev.holdfast.server.ExecutorSettings;
import dev.holdfast.server.HoldfastServer;
import dev.holdfast.server.ServerConfig;
import dev.holdfast.server.ServerRole;
import dev.holdfast.server.UsualSharedDirectory;
import dev.holdfast.server.database.Database;
import dev.holdfast.server.database.DatabaseConfig;
import dev.holdfast.server.http.Proxies;
import dev.holdfast.server.http.Tls;
import dev.holdfast.server.notify.Receivers;
import dev.holdfast.server.postgres.EmbeddedPostgres;
import java.io.PrintWriter;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.Callable;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Spec;

/** Runs a node until the process is told to end. */
@Command(
    name = "server",
    description = "Runs a node: jobs over HTTP, schedules, and what it runs itself.",
    mixinStandardHelpOptions = true,
    showDefaultValues = true)
final class ServerCommand implements Callable<Integer> {

  @Spec private @Nullable CommandSpec spec;

  @Option(
      names = "--database-url",
      defaultValue = "${env:HOLDFAST_DATABASE_URL:-${env:DATABASE_URL}}",
      description =
          "postgresql://user:password@host:5432/database (or $$DATABASE_URL); without one, a"
              + " PostgreSQL of its own in the data directory.",
      showDefaultValue = picocli.CommandLine.Help.Visibility.NEVER)
  private @Nullable String databaseUrl;

  @Option(
      names = "--host",
      defaultValue = "${env:HOLDFAST_HOST:-127.0.0.1}",
      description = "The address to listen on.")
  private String host = "127.0.0.1";

  @Option(
      names = "--port",
      defaultValue = "${env:HOLDFAST_PORT:-8080}",
      description = "0 takes any that is free.")
  private int port;

  @Option(
      names = "--data",
      defaultValue = "${env:HOLDFAST_DATA:-holdfast-data}",
      description = "The directory for the first token, and for the database when it has its own.",
      paramLabel = "DIR")
  private Path data = Path.of("holdfast-data");

  @Option(
      names = "--auth",
      defaultValue = "${env:HOLDFAST_AUTH:-on}",
      description = "on or off; off only on an address of this machine's own.")
  private String auth = "on";

  @Option(
      names = "--roles",
      defaultValue = "${env:HOLDFAST_ROLES:-web,scheduler,worker}",
      description = "What this node does: web, scheduler, worker.")
  private String roles = "";

  @Option(
      names = "--names",
      defaultValue = "${env:HOLDFAST_NAMES:-}",
      description = "Host names that it answers to; without any, on a public address, all.",
      paramLabel = "NAME,…")
  private String names = "";

  @Option(
      names = "--trusted-proxies",
      defaultValue = "${env:HOLDFAST_TRUSTED_PROXIES:-}",
      description = "Addresses or networks whose Forwarded headers are believed.",
      paramLabel = "ADDRESS,…")
  private String proxies = "";

  @Option(
      names = "--webhook-networks",
      defaultValue = "${env:HOLDFAST_WEBHOOK_NETWORKS:-}",
      description = "Private addresses or networks that webhooks may lead to.",
      paramLabel = "ADDRESS,…")
  private String webhookNetworks = "";

  @Option(
      names = "--tls-cert",
      defaultValue = "${env:HOLDFAST_TLS_CERT:-}",
      description = "A certificate and its chain, PEM.",
      paramLabel = "FILE")
  private String certificate = "";

  @Option(
      names = "--tls-key",
      defaultValue = "${env:HOLDFAST_TLS_KEY:-}",
      description = "Its key, PEM (PKCS #8).",
      paramLabel = "FILE")
  private String key = "";

  @Option(
      names = "--executors",
      defaultValue = "${env:HOLDFAST_EXECUTORS:-}",
      description =
          "What it runs itself: process, http, container, ansible, or none. Default: process (for"
              + " the default tenant alone) and http on an address of this machine's own, none"
              + " elsewhere.",
      showDefaultValue = picocli.CommandLine.Help.Visibility.NEVER,
      paramLabel = "NAME,…")
  private String executors = "";

  @Option(
      names = "--executor-queues",
      defaultValue = "${env:HOLDFAST_EXECUTOR_QUEUES:-default}",
      description = "Whose jobs they are.",
      paramLabel = "QUEUE,…")
  private String executorQueues = "";

  @Mixin private Permissions permissions = new Permissions();

  @Option(
      names = "--shared-dir",
      defaultValue = "${env:HOLDFAST_SHARED_DIR:-${env:VM_SHARED_DATA}}",
      description =
          "The directory that remote agents have at the same place (or $$VM_SHARED_DATA); without"
              + " one, 'shared' in the data directory, or /opt/opeva_shared_data if it is there"
              + " instead.",
      showDefaultValue = picocli.CommandLine.Help.Visibility.NEVER,
      paramLabel = "DIR")
  private @Nullable String sharedDir;

  @Option(
      names = "--available-hosts",
      defaultValue = "${env:HOLDFAST_AVAILABLE_HOSTS:-${env:AVAILABLE_HOSTS}}",
      description = "Names that remote agents may have (or $$AVAILABLE_HOSTS); without any, all.",
      showDefaultValue = picocli.CommandLine.Help.Visibility.NEVER,
      paramLabel = "NAME,…")
  private @Nullable String availableHosts;

  @Option(
      names = "--pool-size",
      defaultValue = "${env:HOLDFAST_POOL_SIZE:-20}",
      description = "Connections to the database, at most; six of them are kept for heartbeats.",
      paramLabel = "N")
  private int poolSize;

  @Option(
      names = "--listen-url",
      defaultValue = "${env:HOLDFAST_LISTEN_URL:-${env:HOLDFAST_LISTEN_DATABASE_URL:-}}",
      description =
          "The database's own address, when --database-url is that of a pooler in transaction mode,"
              + " through which notifications do not come.",
      paramLabel = "URL")
  private String listenUrl = "";

  @Option(
      names = "--log-format",
      defaultValue = "${env:HOLDFAST_LOG_FORMAT:-auto}",
      description = "plain, json, or auto: plain on a terminal, a JSON object a line elsewhere.",
      paramLabel = "FORMAT")
  private String logFormat = "auto";

  @Option(
      names = "--log-level",
      defaultValue = "${env:HOLDFAST_LOG_LEVEL:-info}",
      description = "error, warn, info or debug.",
      paramLabel = "LEVEL")
  private String logLevel = "info";

  @Override
  public Integer call() throws InterruptedException {
    Logging.use(Logging.Format.of(logFormat), Logging.level(logLevel));
    try (NodeStop stop = NodeStop.ofThisProcess()) {
      return serve(stop);
    }
  }

  private int serve(NodeStop stop) throws InterruptedException {
    ServerConfig config = config();
    if (databaseUrl != null && !databaseUrl.isBlank()) {
      DatabaseConfig own = new DatabaseConfig(DatabaseUrl.parse(databaseUrl).jdbc(), poolSize);
      return serve(
          config,
          listenUrl.isBlank()
              ? own
              : own.withListenUrl(DatabaseUrl.parse("--listen-url", listenUrl).jdbc()),
          stop);
    }
    if (!listenUrl.isBlank()) {
      throw HoldfastException.badConfig("--listen-url", "given", "together with --database-url");
    }
    try (EmbeddedPostgres postgres = EmbeddedPostgres.start(data)) {
      DatabaseConfig embedded = new DatabaseConfig(postgres.jdbcUrl(), poolSize);
      return serve(config, embedded.withLogin(postgres.user(), postgres.password()), stop);
    }
  }

  private int serve(ServerConfig config, DatabaseConfig connections, NodeStop stop)
      throws InterruptedException {
    try (Database database = Database.open(connections);
        HoldfastServer server = HoldfastServer.start(config, database)) {
      greet(config, server);
      stop.await();
    }
    return 0;
  }

  private ServerConfig config() {
    if (!auth.equals("on") && !auth.equals("off")) {
      throw HoldfastException.badConfig("--auth", auth, "on, off");
    }
    if (certificate.isBlank() != key.isBlank()) {
      throw HoldfastException.badConfig("--tls-cert", certificate, "together with --tls-key");
    }
    ServerConfig config =
        ServerConfig.defaults(data)
            .withAuth(auth.equals("on"))
            .withAddress(host, port)
            .withRoles(ServerRole.parse(roles))
            .withNames(Lists.set(names))
            .withProxies(new Proxies(Lists.set(proxies)))
            .withReceivers(new Receivers(Lists.set(webhookNetworks)));
    config = config.withExecutors(executors(config)).withAgents(agents());
    return certificate.isBlank()
        ? config
        : config.withTls(new Tls(Path.of(certificate), Path.of(key)));
  }

  private AgentSettings agents() {
    Path directory =
        sharedDir == null || sharedDir.isBlank()
            ? UsualSharedDirectory.of(data)
            : Path.of(sharedDir);
    AgentSettings placed = new AgentSettings(directory, List.of());
    return availableHosts == null ? placed : placed.withHosts(availableHosts);
  }

  private ExecutorSettings executors(ServerConfig config) {
    boolean unasked = executors.isBlank() && config.address().isLoopback();
    Set<String> chosen = unasked ? JobExecutors.USUAL : Lists.set(executors);
    return new ExecutorSettings(
        chosen.equals(Set.of("none")) ? Set.of() : chosen,
        Lists.set(executorQueues),
        permissions.config(data.resolve("scratch")),
        unasked ? chosen : Set.of());
  }

  private void greet(ServerConfig config, HoldfastServer server) {
    PrintWriter out = spec().commandLine().getOut();
    Optional<String> address = server.port().map(config.address()::url);
    address.ifPresent(url -> {
      out.printf("Holdfast serves at %s, roles %s%n", url, roles);
      out.printf(
          "Dashboard: %s/ui%s   API: %s/openapi.json%n",
          url, server.newToken().map(token -> "?token=" + token).orElse(""), url);
    });
    server
        .newToken()
        .ifPresent(token -> {
          out.printf(
              "The first token, shown once and kept in %s: %s%n",
              config.data().resolve("admin.token"), token);
        });
    boolean isWithData =
        config.agents().directory().startsWith(config.data().toAbsolutePath().normalize());
    if (!isWithData || Files.exists(UsualSharedDirectory.DOCUMENTED)) { // where agents may look
      out.println("Agents' files are in " + config.agents().directory());
    }
    if (!config.trust().auth()) {
      out.println("Authentication is off: everybody on this machine may do everything.");
    }
    out.flush();
  }

  private CommandSpec spec() {
    if (spec == null) {
      throw new IllegalStateException("not run by picocli");
    }
    return spec;
  }
}
