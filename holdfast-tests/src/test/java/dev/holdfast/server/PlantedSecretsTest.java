package dev.holdfast.server;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;

import ch.qos.logback.classic.Level;
import ch.qos.logback.classic.Logger;
import ch.qos.logback.classic.spi.ILoggingEvent;
import ch.qos.logback.classic.spi.ThrowableProxyUtil;
import ch.qos.logback.core.AppenderBase;
import com.sun.net.httpserver.HttpServer;
import dev.holdfast.api.Json;
import dev.holdfast.executor.ContainerConfig;
import dev.holdfast.executor.ExecutorConfig;
import dev.holdfast.executor.JobExecutors;
import dev.holdfast.executor.KindCatalog;
import dev.holdfast.executor.NodeAddress;
import dev.holdfast.executor.Runbook;
import dev.holdfast.job.JobState;
import dev.holdfast.job.NewJob;
import dev.holdfast.job.Payload;
import dev.holdfast.job.PolicyOverrides;
import dev.holdfast.server.Caller.Reply;
import dev.holdfast.server.auth.Role;
import dev.holdfast.server.http.Route;
import dev.holdfast.server.notify.Courier;
import dev.holdfast.server.notify.Deliveries;
import dev.holdfast.server.notify.Receivers;
import dev.holdfast.server.tenancy.Desks;
import dev.holdfast.testkit.TestPodman;
import dev.holdfast.testkit.TestTenant;
import dev.holdfast.testkit.Tools;
import dev.holdfast.worker.JobContext;
import dev.holdfast.worker.Worker;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.Queue;
import java.util.Set;
import java.util.UUID;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.api.io.TempDir;
import org.slf4j.LoggerFactory;
import tools.jackson.databind.node.ObjectNode;

/**
 * Half a hundred secrets of all sorts are in use, most of them by something that does its best to
 * tell them. Afterwards none is found where anybody looks. Where they have to be stored (a
 * webhook's own, arguments as they are) is said below, and nowhere else.
 */
@Timeout(300)
class PlantedSecretsTest {

  private static final int MANY = 10;
  private static final int AT_LEAST = 50;

  // What must keep a secret to use it, or is stored as it was sent (docs/threat-model.md).
  private static final Set<String> KEEPERS =
      Set.of("webhook.secret", "setting.value", "job.args", "job_done.args");

  @RegisterExtension final TestTenant tenant = new TestTenant();

  /** By what each is. */
  private final Map<String, String> secrets = new LinkedHashMap<>();

  /** By the job that has it in its environment. */
  private final Map<String, UUID> owners = new LinkedHashMap<>();

  private final List<String> seen = new ArrayList<>();
  private final Queue<String> logged = new ConcurrentLinkedQueue<>();
  private final AppenderBase<ILoggingEvent> ears =
      new AppenderBase<>() {
        @Override
        protected void append(ILoggingEvent event) {
          if (!event.getThreadName().contains("HttpClient")) { // the tests' own, and not ours
            String thrown =
                event.getThrowableProxy() == null
                    ? ""
                    : ThrowableProxyUtil.asString(event.getThrowableProxy());
            logged.add(event.getLoggerName() + ": " + event.getFormattedMessage() + thrown);
          }
        }
      };
  private final Logger root = (Logger) LoggerFactory.getLogger(org.slf4j.Logger.ROOT_LOGGER_NAME);
  private final Logger ours = (Logger) LoggerFactory.getLogger("dev.holdfast");
  private HttpServer elsewhere;
  private TestServer server;

  @TempDir Path scratch;

  @BeforeEach
  void listen() throws IOException {
    ears.setContext(root.getLoggerContext());
    ears.start();
    root.addAppender(ears);
    ours.setLevel(Level.DEBUG); // what somebody turns on to find out why something does not work
    elsewhere = HttpServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 0);
    elsewhere.createContext(
        "/",
        exchange -> { // says all that it was told
          String said = exchange.getRequestHeaders().values() + " ";
          byte[] body =
              (said + new String(exchange.getRequestBody().readAllBytes(), UTF_8)).getBytes(UTF_8);
          boolean well = exchange.getRequestURI().getPath().equals("/well");
          exchange.getResponseHeaders().add("Location", "/?" + exchange.getRequestURI().getQuery());
          exchange.sendResponseHeaders(well ? 200 : 400, body.length);
          exchange.getResponseBody().write(body);
          exchange.close();
        });
    elsewhere.start();
    server = TestServer.start(TestServer.config());
  }

  @AfterEach
  void stop() {
    ours.setLevel(Level.INFO);
    root.detachAppender(ears);
    elsewhere.stop(0);
    server.close();
  }

  private String plant(String what) {
    String secret = "s3cr3t-" + UUID.randomUUID() + "-" + what.replaceAll("[^a-z0-9]", "");
    secrets.put(what, secret);
    return secret;
  }

  private String known(String what, String secret) {
    secrets.put(what, secret);
    return secret;
  }

  @Test
  void none_of_fifty_secrets_is_told_anywhere() throws Exception {
    Map<Role, Caller> callers = new LinkedHashMap<>();
    for (Role role : Role.values()) {
      String token = server.token(role, Optional.of(tenant.name()));
      callers.put(
          role,
          new Caller(
              server.port(),
              Optional.of(known("token of " + role, token)),
              Optional.of(tenant.name())));
    }
    Caller admin = Objects.requireNonNull(callers.get(Role.ADMIN));
    Caller viewer = Objects.requireNonNull(callers.get(Role.VIEWER));
    known("admin.token", TestServer.tokenIn(server.ownConfig().data()));
    tokensOverHttp(admin);
    webhooks(admin);
    pullSecrets(admin);
    sessions(viewer.token().orElseThrow());
    List<UUID> jobs = commands();
    jobs.addAll(calls());
    deliver();
    assertThat(secrets).hasSizeGreaterThanOrEqualTo(AT_LEAST);

    // A command that went well and one that did not, a call likewise.
    List<UUID> shown = List.of(jobs.get(0), jobs.get(1), jobs.get(jobs.size() - 2), jobs.getLast());
    for (Caller caller : List.of(admin, viewer)) {
      everyAnswer(caller, shown);
    }
    assertThat(String.join("\n", seen)).as("pages were shown").contains("</html>");
    mistakes(admin);
    for (String table : tables()) {
      seen.add("in the database: " + table);
    }
    temporaryFiles();
    logged.forEach(line -> seen.add("in the log: " + line));

    assertThat(found()).isEmpty();
    assertThat(String.join("\n", seen)).as("commands did say something").contains("***");
  }

  @Test
  void nor_is_one_of_a_container_or_a_playbook() throws Exception {
    Tools.require("ansible-playbook");
    TestPodman podman = TestPodman.shared();
    Path playbooks = Files.createDirectory(scratch.resolve("playbooks"));
    ShellBarrier barrier = ShellBarrier.in(scratch);
    Files.writeString(
        playbooks.resolve("deploy.yml"),
        """
        - hosts: all
          gather_facts: false
          tasks:
            - debug: {msg: "{{ CONFIGURED_0 }} {{ password }}"}
            - shell: %s
        """
            .formatted(barrier.command("{{ job_id }}")));
    Map<String, Object> container = new LinkedHashMap<>();
    container.put("image", TestPodman.IMAGE);
    container.put("pull", "never");
    container.put(
        "command",
        List.of("sh", "-c", "env; echo \"$OWN\" \"$CONFIGURED_1\" >&2; " + barrier.command()));
    String own = plant("variable of a container");
    container.put("env", Map.of("OWN", own));
    container.put("secrets", List.of("OWN", "CONFIGURED_1"));
    container.put(
        "volumes",
        List.of(
            Map.of("host", barrier.directory().toString(), "container", barrier.directory() + "")));
    Map<String, Object> play = new LinkedHashMap<>();
    play.put("password", plant("argument of a playbook"));
    play.put("secrets", List.of("CONFIGURED_0", "password"));
    List<UUID> ids = List.of(enqueue("container", container), enqueue("deploy", play));
    Map<String, String> configured = configured();
    owners.put(own, ids.getFirst());
    owners.put(Objects.requireNonNull(configured.get("CONFIGURED_1")), ids.getFirst());

    runTogether(
        Set.of("container", "ansible"),
        config(configured)
            .withPlaybooks(playbooks)
            .withContainers(
                ContainerConfig.DEFAULTS
                    .withSocket(podman.socket())
                    .withImages(Set.of(TestPodman.IMAGE))
                    .withMounts(List.of(barrier.directory().toString()))
                    .withNetwork("none")),
        barrier,
        ids.size(),
        ids);

    assertThat(ids.stream().map(id -> tenant.job(id).state()))
        .as(String.join("\n", tenant.jobs().log(ids.getLast())))
        .containsOnly(JobState.SUCCEEDED);
    everyAnswer(server.as(Role.ADMIN, tenant.name()), ids);
    tables().forEach(row -> seen.add("in the database: " + row));
    temporaryFiles();
    logged.forEach(line -> seen.add("in the log: " + line));
    assertThat(found()).isEmpty();
    for (UUID id : ids) {
      assertThat(String.join("\n", tenant.jobs().log(id)))
          .as("it did say something")
          .contains("***");
    }
  }

  /** One kind, which a playbook does on this machine. */
  private record Deploys() implements KindCatalog {

    private static final NodeAddress HERE =
        new NodeAddress(
            "7",
            "localhost",
            Optional.empty(),
            Optional.empty(),
            Optional.empty(),
            Optional.of("local"));

    @Override
    public Set<String> kinds(Set<String> executors) {
      return executors.contains("ansible") ? Set.of("deploy") : Set.of();
    }

    @Override
    public Map<String, String> executors(String tenant) {
      return Map.of("deploy", "ansible");
    }

    @Override
    public Runbook runbook(JobContext job) {
      return job.kind().equals("deploy")
          ? new Runbook(Optional.of("deploy.yml"), Optional.of(HERE), Map.of("node_id", "7"))
          : Runbook.NONE;
    }
  }

  private List<String> found() {
    List<String> found = new ArrayList<>();
    for (String place : seen) {
      secrets.forEach((what, secret) -> {
        int at = place.indexOf(secret);
        if (at >= 0) {
          String around =
              place.substring(Math.max(0, at - 300), Math.min(place.length(), at + 100));
          found.add(what + " " + place.substring(0, Math.min(80, place.length())) + " … " + around);
        }
      });
    }
    return found;
  }

  private void tokensOverHttp(Caller admin) {
    for (int i = 0; i < 3; i++) {
      Reply made =
          admin.post("/api/v1/tokens", "{\"name\": \"t%d\", \"role\": \"viewer\"}".formatted(i));
      String token = known("made token " + i, made.json().path("token").asString());
      Caller holder = new Caller(server.port(), Optional.of(token), Optional.empty());
      assertThat(holder.get("/api/v1/jobs").status()).isEqualTo(200);
      admin.send("DELETE", "/api/v1/tokens/" + made.json().path("id").asString(), Optional.empty());
      assertThat(holder.get("/api/v1/jobs").status()).isEqualTo(401);
    }
  }

  private void webhooks(Caller admin) {
    for (int i = 0; i < 5; i++) {
      ObjectNode json = Json.object();
      json.put("url", "http://127.0.0.1:" + elsewhere.getAddress().getPort() + "/hook" + i);
      json.put("secret", plant("webhook " + i)).putArray("events").add("job_failed");
      assertThat(admin.put("/api/v1/webhooks/w" + i, Json.write(json)).status()).isEqualTo(200);
    }
  }

  private void pullSecrets(Caller admin) {
    for (int i = 0; i < 2; i++) {
      String secret = plant("pull secret " + i);
      ObjectNode json = Json.object().put("secret", secret);
      assertThat(admin.put("/api/v1/pull-secret", Json.write(json)).status()).isLessThan(300);
    }
  }

  private void sessions(String token) throws Exception {
    for (int i = 0; i < 4; i++) {
      var answer =
          java.net.http.HttpClient.newHttpClient()
              .send(
                  java.net.http.HttpRequest.newBuilder(
                          java.net.URI.create(
                              "http://127.0.0.1:" + server.port() + "/ui?token=" + token))
                      .build(),
                  java.net.http.HttpResponse.BodyHandlers.ofString());
      String cookie =
          answer.headers().allValues("Set-Cookie").stream()
              .filter(each -> each.startsWith("holdfast_session="))
              .findFirst()
              .orElseThrow();
      known("session " + i, cookie.substring(cookie.indexOf('=') + 1, cookie.indexOf(';')));
      seen.add("location: " + answer.headers().firstValue("Location").orElse(""));
    }
  }

  // Of the worker's, and of the jobs' own; told in every way, well and badly.
  private List<UUID> commands() throws Exception {
    Map<String, String> configured = configured();
    ShellBarrier barrier = ShellBarrier.in(scratch);
    List<UUID> ids = new ArrayList<>();
    for (int i = 0; i < MANY; i++) {
      Map<String, Object> args = new LinkedHashMap<>();
      args.put(
          "argv",
          List.of(
              "sh",
              "-c",
              barrier.command()
                  + "; env; echo \"$OWN\" | cut -c1-20; printf %s \"$OWN\"; printf %s \"$OWN\" >&2;"
                  + " cat /proc/[0-9]*/cmdline 2>/dev/null | tr '\\0' ' '; exit "
                  + i % 2));
      String own = plant("variable " + i);
      args.put("env", Map.of("OWN", own));
      args.put("secrets", List.of("OWN", "CONFIGURED_" + i));
      args.put("stdin", "nothing");
      ids.add(enqueue("process", args));
      owners.put(own, ids.getLast());
      owners.put(Objects.requireNonNull(configured.get("CONFIGURED_" + i)), ids.getLast());
    }
    Map<String, Object> nosy = new LinkedHashMap<>();
    nosy.put("argv", List.of("env"));
    ids.add(enqueue("process", nosy));
    runTogether(Set.of("process"), config(configured), barrier, MANY, ids);
    String environment = String.join("\n", tenant.jobs().log(ids.getLast()));
    assertThat(environment).contains("HOLDFAST_JOB_ID").doesNotContain("CONFIGURED_", "OWN=");
    return ids;
  }

  /** All at once; while they run, we look at what anybody on the machine could see of them. */
  private void runTogether(
      Set<String> kinds, ExecutorConfig config, ShellBarrier barrier, int waiting, List<UUID> ids)
      throws Exception {
    try (JobExecutors executors = JobExecutors.open(kinds, config);
        Worker worker = executors.installOn(tenant.worker(), new Deploys()).start()) {
      seen.add("the configuration: " + config);
      barrier.await(waiting);
      lookAtProcesses();
      barrier.open();
      while (!ids.stream().allMatch(id -> tenant.job(id).state().isFinished())) {
        Thread.onSpinWait();
      }
    }
  }

  // Arguments are for everybody to see. An environment is for its own user alone, and yet nobody's
  // but the job's own has its secrets: not the worker's, not a sibling's.
  private void lookAtProcesses() throws IOException {
    Set<UUID> found = new HashSet<>();
    for (ProcessTable.Row row : ProcessTable.now()) {
      seen.add("the arguments of a process: " + row.commandLine());
      owners.forEach((secret, owner) -> {
        if (row.environment().contains(secret)) {
          if (row.environment().contains("HOLDFAST_JOB_ID=" + owner)) {
            found.add(owner);
          } else {
            seen.add("the environment of " + row.commandLine() + ": " + row.environment());
          }
        }
      });
    }
    assertThat(found).as("jobs that were seen at work").containsAll(owners.values());
  }

  private final Map<String, String> configuredOnce = new LinkedHashMap<>();

  private Map<String, String> configured() {
    if (configuredOnce.isEmpty()) {
      IntStream.range(0, 2 * MANY)
          .forEach(i -> configuredOnce.put("CONFIGURED_" + i, plant("configured " + i)));
    }
    return configuredOnce;
  }

  private List<UUID> calls() {
    List<UUID> ids = new ArrayList<>();
    for (int i = MANY; i < 2 * MANY; i++) {
      Map<String, Object> args = new LinkedHashMap<>();
      args.put("method", "POST");
      args.put(
          "url",
          "http://127.0.0.1:%d/%s"
              .formatted(elsewhere.getAddress().getPort(), i % 2 == 0 ? "well" : "badly"));
      args.put("headers", Map.of("Authorization", "Bearer ${CONFIGURED_" + i + "}"));
      args.put("body", "key=${CONFIGURED_" + i + "}");
      args.put("secrets", List.of("CONFIGURED_" + i));
      ids.add(enqueue("http", args));
    }
    run("http", configured());
    return ids;
  }

  private UUID enqueue(String kind, Map<String, Object> args) {
    return tenant
        .jobs()
        .enqueue(NewJob.of(kind, args).withPolicy(PolicyOverrides.NONE.withMaxAttempts(1)))
        .id();
  }

  private void run(String executor, Map<String, String> configured) {
    ExecutorConfig config = config(configured);
    try (JobExecutors executors = JobExecutors.open(Set.of(executor), config);
        Worker worker = executors.installOn(tenant.worker()).build()) {
      seen.add("the configuration: " + config);
      worker.runDue();
    }
  }

  private ExecutorConfig config(Map<String, String> configured) {
    return ExecutorConfig.DEFAULTS
        .withSecrets(configured)
        .withAllowedHosts(Set.of("127.0.0.1"))
        .withScratch(scratch.resolve("executors"));
  }

  private void deliver() {
    Desks desks = new Desks(tenant.holdfast(), Set::of);
    new Courier(tenant.holdfast(), desks).runOnce();
    Deliveries.worker(tenant.worker(), desks, new Receivers(Set.of("127.0.0.0/8"))).runDue();
  }

  /** Of every route that only shows something, with the names and ids of things that there are. */
  private void everyAnswer(Caller caller, List<UUID> jobs) {
    int answers = 0;
    for (Route route : server.server().routes()) {
      if (route.method() != Route.Method.GET
          || route.path().endsWith("/events")
          || route.path().equals("/ui/jobs/{id}/log")
          || (route.path().endsWith("args.json") && caller.token().isEmpty())) {
        continue;
      }
      for (UUID job : route.path().contains("id}") ? jobs : jobs.subList(0, 1)) {
        String path =
            route
                .path()
                .replace("{tenant}", tenant.name().value())
                .replaceAll("\\{(\\w+_)?id}", job.toString())
                .replace("{name}", route.path().contains("webhooks") ? "w0" : "default")
                .replaceAll("\\{\\w+}", "default");
        Reply reply = caller.get(path);
        seen.add("GET " + path + ": " + reply.text());
        answers++;
      }
    }
    assertThat(answers).isGreaterThan(100);
  }

  // A secret in the wrong place, or sent wrongly, is not told back.
  private void mistakes(Caller admin) {
    String secret = plant("misplaced");
    seen.add(
        admin
            .put("/api/v1/webhooks/bad", "{\"url\": \"x\", \"secret\": \"" + secret + "\"}")
            .text());
    seen.add(admin.put("/api/v1/pull-secret", "{\"secret\": \"" + secret).text());
    Caller liar =
        new Caller(server.port(), Optional.of("hf_" + secret), Optional.of(tenant.name()));
    seen.add(liar.get("/api/v1/jobs").text());
    seen.add(liar.get("/ui?token=" + secret).text());
    seen.add(
        tenant
            .jobs()
            .enqueue(
                NewJob.of(
                        "http",
                        new Payload("{\"url\": \"http://me:%s@127.0.0.1/\"}".formatted(secret)))
                    .withPolicy(PolicyOverrides.NONE.withMaxAttempts(1)))
            .toString());
    run("http", configured());
    secrets.put("misplaced", secret);
  }

  /** Every row of the tenant's tables and the control schema's, but what has to keep one. */
  private List<String> tables() {
    Map<String, String> own = columns("holdfast_" + tenant.name());
    Map<String, String> control = columns("holdfast");
    assertThat(own).hasSizeGreaterThan(15).containsKeys("audit", "job_log", "attempt");
    assertThat(control).containsKeys("token", "session", "tenant", "worker", "signature");
    List<String> rows = new ArrayList<>();
    own.forEach((table, names) -> rows.addAll(rows("{schema}." + table, names)));
    control.forEach((table, names) -> rows.addAll(rows("holdfast." + table, names)));
    return rows;
  }

  private Map<String, String> columns(String schema) {
    return tenant
        .query(
            """
            SELECT table_name, column_name FROM information_schema.columns c
              JOIN pg_class ON pg_class.oid = format('%I.%I', table_schema, table_name)::regclass
             WHERE table_schema = '%s' AND relkind IN ('r', 'p')
            """
                .replace("%s", schema))
        .stream()
        .filter(row -> !KEEPERS.contains(row.get("table_name") + "." + row.get("column_name")))
        .collect(
            Collectors.groupingBy(
                row -> String.valueOf(row.get("table_name")),
                Collectors.mapping(
                    row -> "\"" + row.get("column_name") + "\"::text", Collectors.joining(", "))));
  }

  private List<String> rows(String table, String columns) {
    return tenant.query("SELECT concat_ws(' ', " + columns + ") AS row FROM " + table).stream()
        .map(row -> table + ": " + row.get("row"))
        .toList();
  }

  private void temporaryFiles() throws IOException {
    Path token = server.ownConfig().data().resolve("admin.token");
    try (Stream<Path> data = Files.walk(server.ownConfig().data());
        Stream<Path> scratched = Files.walk(scratch)) {
      for (Path file :
          Stream.concat(data, scratched)
              .filter(Files::isRegularFile)
              .filter(f -> !f.equals(token))
              .toList()) {
        seen.add("file " + file + ": " + new String(Files.readAllBytes(file), UTF_8));
      }
    }
  }
}
