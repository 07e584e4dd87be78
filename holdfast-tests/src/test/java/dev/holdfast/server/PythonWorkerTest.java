package dev.holdfast.server;

import static org.assertj.core.api.Assertions.assertThat;

import com.sun.net.httpserver.HttpExchange;
import com.sun.net.httpserver.HttpServer;
import dev.holdfast.audit.Act;
import dev.holdfast.executor.Processes;
import dev.holdfast.job.Job;
import dev.holdfast.job.JobState;
import dev.holdfast.job.NewJob;
import dev.holdfast.job.Payload;
import dev.holdfast.job.PolicyOverrides;
import dev.holdfast.server.Caller.Reply;
import dev.holdfast.server.auth.Role;
import dev.holdfast.testkit.TestTenant;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.http.HttpRequest;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Optional;
import java.util.UUID;
import java.util.concurrent.Executors;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.api.io.TempDir;

/** The example of a worker in another language works, and is as short as it claims. */
class PythonWorkerTest {

  private static final Path SCRIPT = Path.of("..", "examples", "python-worker", "worker.py");

  @RegisterExtension final TestTenant tenant = new TestTenant();

  @Test
  void a_worker_of_some_seventy_lines_runs_jobs_and_says_how_they_ended() throws Exception {
    UUID good = enqueue("{\"numbers\": [1, 2, 39]}");
    UUID bad = enqueue("{\"numbers\": \"nine\"}");

    awaitEnd(start(SCRIPT, 2, TestServer.shared().port()));

    assertThat(tenant.job(good).state()).isEqualTo(JobState.SUCCEEDED);
    assertThat(tenant.job(good).result().orElseThrow().json()).isEqualTo("{\"sum\":42}");
    assertThat(tenant.jobs().log(good)).singleElement().asString().contains("adding up");
    Job failed = tenant.job(bad);
    assertThat(failed.state()).isEqualTo(JobState.FAILED);
    assertThat(failed.errorCode()).contains("TypeError");
    assertThat(Files.readAllLines(SCRIPT)).hasSizeLessThanOrEqualTo(75);
  }

  @Test
  @Timeout(60)
  void a_handler_that_ends_early_because_it_is_told_to_stop_has_stopped(@TempDir Path directory)
      throws Exception {
    Job job = toldToStopBefore("    total = 0\n", directory);

    assertThat(job.state()).isEqualTo(JobState.CANCELLED);
    assertThat(job.result()).isEmpty();
  }

  @Test
  @Timeout(60)
  void a_handler_that_finishes_although_it_is_told_to_stop_has_succeeded(@TempDir Path directory)
      throws Exception {
    Job job = toldToStopBefore("    return {\"sum\"", directory);

    assertThat(job.state()).isEqualTo(JobState.SUCCEEDED);
    assertThat(job.result().orElseThrow().json()).isEqualTo("{\"sum\":42}");
  }

  @Test
  @Timeout(60)
  void a_heartbeat_that_comes_too_early_is_repeated(@TempDir Path directory) throws Exception {
    AtomicInteger refused = new AtomicInteger();
    HttpServer between =
        HttpServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 0);
    between.setExecutor(Executors.newVirtualThreadPerTaskExecutor());
    between.createContext(
        "/",
        exchange -> {
          boolean isFirst =
              exchange.getRequestURI().getPath().endsWith("/leases/extend")
                  && refused.compareAndSet(0, 1);
          pass(exchange, isFirst);
        });
    between.start();
    try {
      Job job = toldToStopBefore("    total = 0\n", directory, between.getAddress().getPort());

      assertThat(refused).hasValue(1);
      assertThat(job.state()).isEqualTo(JobState.CANCELLED);
    } finally {
      between.stop(0);
    }
  }

  // As the server does for a token that asks too often.
  private static void pass(HttpExchange exchange, boolean refuses) throws IOException {
    byte[] asked = exchange.getRequestBody().readAllBytes();
    HttpRequest request =
        HttpRequest.newBuilder(
                Visitor.uri(TestServer.shared().port(), exchange.getRequestURI().getPath()))
            .header("Content-Type", "application/json")
            .header("Authorization", exchange.getRequestHeaders().getFirst("Authorization"))
            .POST(HttpRequest.BodyPublishers.ofByteArray(asked))
            .build();
    Reply reply = refuses ? new Reply(429, "application/json", "{}") : Caller.send(request);
    byte[] answer = reply.text().getBytes(StandardCharsets.UTF_8);
    exchange.getResponseHeaders().add("Content-Type", reply.contentType());
    exchange.sendResponseHeaders(reply.status(), answer.length);
    exchange.getResponseBody().write(answer);
    exchange.close();
  }

  private Job toldToStopBefore(String line, Path directory) throws Exception {
    return toldToStopBefore(line, directory, TestServer.shared().port());
  }

  /** How a job ended whose worker heard before this line that it is to stop. */
  private Job toldToStopBefore(String line, Path directory, int port) throws Exception {
    String patient =
        Files.readString(SCRIPT)
            .replace(line, "    while not log.stopped: threading.Event().wait(0.05)\n" + line);
    UUID id = enqueue("{\"numbers\": [42]}");
    Process worker = start(Files.writeString(directory.resolve("worker.py"), patient), 1, port);
    Processes.await(() -> !tenant.jobs().log(id).isEmpty());

    tenant.acts().stop(id, Act.by("ada"));
    awaitEnd(worker);

    return tenant.job(id);
  }

  private Process start(Path script, int jobs, int port) throws IOException {
    ProcessBuilder python =
        new ProcessBuilder(
            "python3", script.toString(), "http://127.0.0.1:" + port, "sums", String.valueOf(jobs));
    python
        .environment()
        .put("HOLDFAST_TOKEN", TestServer.shared().token(Role.WORKER, Optional.of(tenant.name())));
    return python.redirectErrorStream(true).start();
  }

  private static void awaitEnd(Process worker) throws Exception {
    String said = new String(worker.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
    assertThat(worker.waitFor(60, TimeUnit.SECONDS)).isTrue();
    assertThat(worker.exitValue()).as(said).isZero();
  }

  private UUID enqueue(String args) {
    return tenant
        .jobs()
        .enqueue(
            NewJob.of("sum", new Payload(args))
                .withQueue("sums")
                .withPolicy(
                    PolicyOverrides.NONE.withMaxAttempts(1).withLeaseLength(Duration.ofSeconds(3))))
        .id();
  }
}
