package dev.holdfast.executor;

import static org.assertj.core.api.Assertions.assertThat;

import com.sun.net.httpserver.HttpExchange;
import com.sun.net.httpserver.HttpServer;
import dev.holdfast.job.Job;
import dev.holdfast.job.JobState;
import dev.holdfast.job.NewJob;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.charset.StandardCharsets;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;

/** A server to call, and jobs that call it. */
abstract class HttpRig extends ExecutorTest {

  static final ExecutorConfig HERE =
      ExecutorConfig.DEFAULTS
          .withAllowedHosts(Set.of("127.0.0.1"))
          .withSecrets(Map.of("API_KEY", "k3y-of-ours"));

  private final ExecutorService threads = Executors.newVirtualThreadPerTaskExecutor();
  final CountDownLatch called = new CountDownLatch(1);
  private final CountDownLatch over = new CountDownLatch(1);
  HttpServer server;

  @BeforeEach
  void listen() throws IOException {
    server = HttpServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 0);
    server.setExecutor(threads);
    server.createContext("/echo", this::echo);
    server.createContext("/status/", exchange -> answer(exchange, lastNumber(exchange), "because"));
    server.createContext("/to/", this::redirect);
    server.createContext("/long", exchange -> answer(exchange, 200, "\u0001é".repeat(1_000_000)));
    server.createContext(
        "/never",
        exchange -> {
          called.countDown();
          exchange.sendResponseHeaders(200, 100);
          exchange.getResponseBody().flush(); // the head comes, and no body
          awaitEnd();
        });
    server.start();
  }

  @AfterEach
  void stop() {
    over.countDown();
    server.stop(0);
    threads.close();
  }

  String url(String path) {
    return "http://127.0.0.1:" + server.getAddress().getPort() + path;
  }

  NewJob get(String path) {
    return call(Map.of("url", url(path)));
  }

  static NewJob call(Map<String, Object> args) {
    return NewJob.of("http", args);
  }

  void assertRefused(Map<String, Object> args, String field) {
    Job job = run(HERE, call(args));

    assertThat(job.state()).as("%s", args).isEqualTo(JobState.FAILED);
    assertThat(job.errorCode()).contains("INVALID_ARGUMENT");
    assertThat(job.errorMessage().orElse("")).contains(field).doesNotContain("secret@");
  }

  // Method, target, X-Mine, body, idempotency key, and the length of X-Mine when it is a token.
  private void echo(HttpExchange exchange) throws IOException {
    String mine = exchange.getRequestHeaders().getFirst("X-Mine");
    String body = new String(exchange.getRequestBody().readAllBytes(), StandardCharsets.UTF_8);
    String key = exchange.getRequestHeaders().getFirst("Idempotency-Key");
    String length =
        mine != null && mine.startsWith("Bearer") ? String.valueOf(mine.length()) : "null";
    answer(
        exchange,
        200,
        String.join(
            " ",
            exchange.getRequestMethod(),
            exchange.getRequestURI().toString(),
            String.valueOf(mine),
            body,
            key,
            length));
  }

  // /to/echo leads to /echo, /to/to/x to itself, /to/localhost to the same server's other name.
  private void redirect(HttpExchange exchange) throws IOException {
    String path = exchange.getRequestURI().getPath();
    String location =
        switch (path) {
          case "/to/echo" -> "/echo";
          case "/to/localhost" -> url("/echo").replace("127.0.0.1", "localhost");
          default -> path;
        };
    exchange.getResponseHeaders().add("Location", location);
    answer(exchange, exchange.getRequestURI().getQuery() == null ? 302 : 307, "");
  }

  private static int lastNumber(HttpExchange exchange) {
    String path = exchange.getRequestURI().getPath();
    return Integer.parseInt(path.substring(path.lastIndexOf('/') + 1));
  }

  private static void answer(HttpExchange exchange, int status, String text) throws IOException {
    byte[] bytes = text.getBytes(StandardCharsets.UTF_8);
    exchange.getResponseHeaders().add("Content-Type", "text/plain");
    boolean hasBody = bytes.length > 0 && status != 304;
    exchange.sendResponseHeaders(status, hasBody ? bytes.length : -1);
    try (exchange) {
      if (hasBody) {
        exchange.getResponseBody().write(bytes);
      }
    }
  }

  private void awaitEnd() {
    try {
      over.await();
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }
}
