package dev.holdfast.executor;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.sun.net.httpserver.HttpExchange;
import com.sun.net.httpserver.HttpServer;
import dev.holdfast.error.HoldfastException;
import dev.holdfast.job.Job;
import dev.holdfast.job.JobState;
import dev.holdfast.job.Kind;
import dev.holdfast.job.NewJob;
import dev.holdfast.worker.Worker;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.UUID;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

class HttpExecutorTest extends ExecutorTest {

  private static final ExecutorConfig HERE =
      ExecutorConfig.DEFAULTS
          .withAllowedHosts(Set.of("127.0.0.1"))
          .withSecrets(Map.of("API_KEY", "k3y-of-ours"));

  private final ExecutorService threads = Executors.newVirtualThreadPerTaskExecutor();
  private final CountDownLatch called = new CountDownLatch(1);
  private final CountDownLatch over = new CountDownLatch(1);
  private HttpServer server;

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

  @Test
  void a_call_that_is_answered_well_has_the_answer_as_result() {
    Job job =
        run(
            HERE,
            call(
                Map.of(
                    "method",
                    "post",
                    "url",
                    url("/echo?a=b"),
                    "headers",
                    Map.of("X-Mine", "1"),
                    "body",
                    "größer")));

    assertThat(job.state()).isEqualTo(JobState.SUCCEEDED);
    assertThat(result(job).get("status")).isEqualTo(200);
    assertThat(text(job, "headers")).contains("content-type=text/plain");
    assertThat(text(job, "body")).isEqualTo("POST /echo?a=b 1 größer " + job.id() + " null");
    assertThat(result(job).get("body_cut")).isEqualTo(false);
  }

  @Test
  void what_may_pass_is_tried_again_and_the_rest_fails_for_good() {
    assertThat(List.of(500, 503, 429, 408))
        .allSatisfy(status -> {
          Job job = run(HERE, get("/status/" + status));
          assertThat(job.state()).isEqualTo(JobState.QUEUED);
          assertThat(job.errorCode()).contains("HTTP_" + status);
          assertThat(job.errorMessage().orElse("")).endsWith("answered " + status + ": because");
        });
    assertThat(List.of(400, 404, 304))
        .allSatisfy(status -> {
          Job job = run(HERE, get("/status/" + status));
          assertThat(job.state()).isEqualTo(JobState.FAILED);
          assertThat(job.errorCode()).contains("HTTP_" + status);
        });
  }

  @Test
  void only_hosts_that_are_allowed_are_called() {
    Job byDefault = run(ExecutorConfig.DEFAULTS, get("/echo"));
    Job byOtherName =
        run(HERE, call(Map.of("url", url("/echo").replace("127.0.0.1", "localhost"))));

    assertThat(List.of(byDefault, byOtherName))
        .allSatisfy(job -> {
          assertThat(job.state()).isEqualTo(JobState.FAILED);
          assertThat(job.errorCode()).contains("HOST_NOT_ALLOWED");
        });
  }

  @Test
  void a_star_stands_for_all_names_below() {
    AllowedHosts hosts = new AllowedHosts(Set.of("api.Example.org", "*.example.com"));

    assertThat(List.of("api.example.org", "API.EXAMPLE.ORG", "a.example.com", "a.b.example.com"))
        .allMatch(hosts::allow);
    assertThat(List.of("example.org", "x.api.example.org", "example.com", "badexample.com", ""))
        .noneMatch(hosts::allow);
    assertThatThrownBy(() -> new AllowedHosts(Set.of("*"))).isInstanceOf(HoldfastException.class);
    assertThatThrownBy(() -> new AllowedHosts(Set.of("a.org/x")))
        .isInstanceOf(HoldfastException.class)
        .hasMessageContaining("executors.allowed-hosts");
  }

  @Test
  void an_address_in_another_spelling_is_not_the_one_that_is_allowed() {
    List<String> spellings =
        List.of(
            "localhost",
            "localhost.",
            "2130706433",
            "0x7f000001",
            "0177.0.0.1",
            "127.1",
            "127.0.0.1.",
            "[::1]",
            "[::ffff:127.0.0.1]",
            "127.0.0.2",
            "127.0.0.1.nip.io",
            "169.254.169.254",
            "127.0.0.1%2523@169.254.169.254",
            "127.0.0.1\\@169.254.169.254");
    for (String host : spellings) {
      Job job = run(HERE, call(Map.of("url", url("/echo").replace("127.0.0.1", host))));
      assertThat(job.state()).as(host).isEqualTo(JobState.FAILED);
      assertThat(job.errorCode().orElseThrow())
          .as(host)
          .isIn("HOST_NOT_ALLOWED", "INVALID_ARGUMENT");
    }
    for (String scheme : List.of("file", "ftp", "gopher", "jar:http", "ws", "unix")) {
      assertRefused(Map.of("url", url("/echo").replaceFirst("http", scheme)), "url");
    }
  }

  @Test
  void a_star_does_not_lead_to_this_machine_or_a_clouds_keys() throws Exception {
    for (String address :
        List.of(
            "127.0.0.1",
            "0.0.0.0",
            "0.1.2.3",
            "169.254.169.254",
            "100.100.100.200",
            "192.0.0.192",
            "::1",
            "fe80::1",
            "fd00:ec2::254",
            "fd20:ce::254",
            "::127.0.0.1",
            "::ffff:127.0.0.1",
            "64:ff9b::169.254.169.254",
            "2002:7f00:1::",
            "2001:0:1:2:3:4:80ff:fffe")) {
      AllowedHosts hosts =
          new AllowedHosts(
              Set.of("*.example.org", "here.example.org"),
              host ->
                  new InetAddress[] {
                    InetAddress.getByName("10.0.0.1"), InetAddress.getByName(address)
                  });
      assertThat(hosts.leadsAstray("rebound.example.org")).as(address).isTrue();
      assertThat(hosts.leadsAstray("Here.example.org")).as("was named").isFalse();
    }
    for (String address : List.of("10.0.0.1", "192.0.2.7", "64:ff9b::192.0.2.7", "fd12::7")) {
      AllowedHosts inside =
          new AllowedHosts(
              Set.of("*.example.org"), host -> new InetAddress[] {InetAddress.getByName(address)});
      assertThat(inside.leadsAstray("erp.example.org")).as("what a star is mostly for").isFalse();
    }
  }

  @Test
  void where_a_star_leads_is_looked_at_before_each_call() {
    AllowedHosts astray =
        new AllowedHosts(
            Set.of("*.example.org"), host -> new InetAddress[] {InetAddress.getLoopbackAddress()});
    UUID id = enqueue(call(Map.of("url", "http://rebound.example.org/")));
    try (HttpExecutor executor = new HttpExecutor(HERE, astray);
        Worker worker =
            tenant
                .worker()
                .handleWithOutcome(
                    Kind.of("http", Object.class),
                    (args, job) -> executor.run(args, Runbook.NONE, job))
                .build()) {
      worker.runDue();
    }

    assertThat(tenant.job(id).errorCode()).contains("HOST_NOT_ALLOWED");
    assertThat(tenant.job(id).errorMessage().orElse("")).contains("leads to where");
  }

  @Test
  void redirects_are_followed_within_the_site_and_not_for_ever() {
    Job within = run(HERE, call(Map.of("method", "POST", "url", url("/to/echo"), "body", "x")));
    Job kept = run(HERE, call(Map.of("method", "POST", "url", url("/to/echo?307"), "body", "x")));
    Job abroad = run(HERE, get("/to/localhost"));
    Job around = run(HERE, get("/to/to/itself"));

    assertThat(text(within, "body")).startsWith("GET /echo null  ");
    assertThat(text(kept, "body")).startsWith("POST /echo null x ");
    assertThat(abroad.errorCode()).contains("REDIRECT_REFUSED");
    assertThat(abroad.state()).isEqualTo(JobState.FAILED);
    assertThat(around.errorCode()).contains("TOO_MANY_REDIRECTS");
  }

  @Test
  void of_a_long_answer_the_beginning_is_kept() {
    Job job = run(HERE, get("/long"));

    assertThat(job.state()).isEqualTo(JobState.SUCCEEDED);
    assertThat(result(job).get("body_cut")).isEqualTo(true);
    assertThat(text(job, "body")).hasSizeGreaterThan(10_000).startsWith("\u0001é");
  }

  @Test
  void an_answer_that_does_not_come_in_time_is_waited_for_no_longer() {
    Job job = run(HERE, call(Map.of("url", url("/never"), "timeout_seconds", 0.3)));

    assertThat(job.state()).isEqualTo(JobState.QUEUED);
    assertThat(job.errorCode()).contains("HTTP_TIMEOUT");
  }

  @Test
  void nobody_there_is_tried_again() {
    server.stop(0);

    Job job = run(HERE, get("/echo"));

    assertThat(job.state()).isEqualTo(JobState.QUEUED);
    assertThat(job.errorCode()).contains("HTTP_UNREACHABLE");
  }

  @Test
  void whoever_stops_a_job_ends_its_call() throws Exception {
    UUID id = enqueue(get("/never"));
    try (JobExecutors executors = JobExecutors.open(Set.of("http"), HERE);
        Worker worker = executors.installOn(tenant.worker()).start()) {
      called.await();
      tenant.acts().stop(id, ADA);
      Processes.await(() -> tenant.job(id).state().isFinished());
    }

    assertThat(tenant.job(id).state()).isEqualTo(JobState.CANCELLED);
  }

  @Test
  void secrets_are_sent_where_they_are_mentioned_and_told_nowhere() {
    Job job =
        run(
            HERE,
            call(
                Map.of(
                    "method", "PUT",
                    "url", url("/echo"),
                    "headers", Map.of("X-Mine", "Bearer ${API_KEY}"),
                    "body", "${API_KEY} ${OTHER}",
                    "secrets", List.of("API_KEY"))));

    assertThat(text(job, "body"))
        .startsWith("PUT /echo Bearer *** *** ${OTHER} ")
        .endsWith(" 18"); // how long the header was that arrived
  }

  @Test
  void wrong_arguments_fail_for_good_and_are_told_by_name() {
    assertRefused(Map.of(), "url");
    assertRefused(Map.of("url", "ftp://127.0.0.1/"), "url");
    assertRefused(Map.of("url", "http://me:secret@127.0.0.1/"), "url");
    assertRefused(Map.of("url", "http:///x"), "url");
    assertRefused(Map.of("url", "http://127.0.0.1:99999/"), "url");
    assertRefused(Map.of("url", url("/echo"), "method", "STEAL"), "method");
    assertRefused(Map.of("url", url("/echo"), "headers", Map.of("Host", "x")), "headers");
    assertRefused(Map.of("url", url("/echo"), "headers", Map.of("X", "a\r\nB: c")), "headers");
    assertRefused(Map.of("url", url("/echo"), "timeout_seconds", 0), "timeout_seconds");
    assertRefused(Map.of("url", url("/echo"), "secrets", List.of("NONE")), "secrets");
    assertRefused(Map.of("url", url("/echo"), "uri", "x"), "uri");
  }

  private void assertRefused(Map<String, Object> args, String field) {
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

  private String url(String path) {
    return "http://127.0.0.1:" + server.getAddress().getPort() + path;
  }

  private NewJob get(String path) {
    return call(Map.of("url", url(path)));
  }

  private static NewJob call(Map<String, Object> args) {
    return NewJob.of("http", args);
  }
}
