package dev.holdfast.server;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;

import com.sun.net.httpserver.HttpServer;
import dev.holdfast.executor.ExecutorConfig;
import dev.holdfast.executor.JobExecutors;
import dev.holdfast.executor.KindCatalog;
import dev.holdfast.executor.NodeAddress;
import dev.holdfast.executor.Runbook;
import dev.holdfast.job.NewJob;
import dev.holdfast.job.PolicyOverrides;
import dev.holdfast.server.Caller.Reply;
import dev.holdfast.server.http.Route;
import dev.holdfast.testkit.TestTenant;
import dev.holdfast.worker.JobContext;
import dev.holdfast.worker.Worker;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.file.Path;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.UUID;
import java.util.stream.IntStream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.api.io.TempDir;

/** A server, a worker with secrets, and somewhere else that tells all that it hears. */
@Timeout(300)
abstract class SecretsRig {

  static final int MANY = 10;

  @RegisterExtension final TestTenant tenant = new TestTenant();

  /** By the job that has it in its environment. */
  final Map<String, UUID> owners = new LinkedHashMap<>();

  private final Map<String, String> configuredOnce = new LinkedHashMap<>();

  SecretSearch search;
  HttpServer elsewhere;
  TestServer server;

  @TempDir Path scratch;

  @BeforeEach
  void listen() throws IOException {
    search = new SecretSearch(tenant);
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
    search.close();
    elsewhere.stop(0);
    server.close();
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

  /** All at once; while they run, we look at what anybody on the machine could see of them. */
  void runTogether(
      Set<String> kinds, ExecutorConfig config, ShellBarrier barrier, int waiting, List<UUID> ids)
      throws Exception {
    try (JobExecutors executors = JobExecutors.open(kinds, config);
        Worker worker = executors.installOn(tenant.worker(), new Deploys()).start()) {
      search.saw("the configuration: " + config);
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
      search.saw("the arguments of a process: " + row.commandLine());
      owners.forEach((secret, owner) -> {
        if (row.environment().contains(secret)) {
          if (row.environment().contains("HOLDFAST_JOB_ID=" + owner)) {
            found.add(owner);
          } else {
            search.saw("the environment of " + row.commandLine() + ": " + row.environment());
          }
        }
      });
    }
    assertThat(found).as("jobs that were seen at work").containsAll(owners.values());
  }

  Map<String, String> configured() {
    if (configuredOnce.isEmpty()) {
      IntStream.range(0, 2 * MANY)
          .forEach(i -> configuredOnce.put("CONFIGURED_" + i, search.plant("configured " + i)));
    }
    return configuredOnce;
  }

  UUID enqueue(String kind, Map<String, Object> args) {
    return tenant
        .jobs()
        .enqueue(NewJob.of(kind, args).withPolicy(PolicyOverrides.NONE.withMaxAttempts(1)))
        .id();
  }

  ExecutorConfig config(Map<String, String> configured) {
    return ExecutorConfig.DEFAULTS
        .withSecrets(configured)
        .withAllowedHosts(Set.of("127.0.0.1"))
        .withScratch(scratch.resolve("executors"));
  }

  /** Of every route that only shows something, with the names and ids of things that there are. */
  void everyAnswer(Caller caller, List<UUID> jobs) {
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
        search.saw("GET " + path + ": " + reply.text());
        answers++;
      }
    }
    assertThat(answers).isGreaterThan(100);
  }

  void temporaryFiles() throws IOException {
    Path data = server.ownConfig().data();
    search.lookAtFiles(data.resolve("admin.token"), data, scratch);
  }
}
