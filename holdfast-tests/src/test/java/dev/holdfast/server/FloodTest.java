package dev.holdfast.server;

import static java.nio.charset.StandardCharsets.US_ASCII;
import static org.assertj.core.api.Assertions.assertThat;

import dev.holdfast.job.NewJob;
import dev.holdfast.server.Caller.Reply;
import dev.holdfast.server.auth.Role;
import dev.holdfast.testkit.TestTenant;
import java.io.IOException;
import java.net.InetAddress;
import java.net.Socket;
import java.net.SocketException;
import java.net.SocketTimeoutException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.RegisterExtension;
import tools.jackson.databind.JsonNode;

/** A server as it runs, and one token or one stranger that asks too much of it. */
@Timeout(120)
class FloodTest {

  private static final int MOST_POLLS = 100;
  private static final int ASKING = 400;
  private static final int PERSISTENT = 4;
  private static final int ROUNDS = 30;
  private static final Duration PATIENCE = Duration.ofSeconds(2);
  private static final Duration PROMPT = Duration.ofSeconds(10); // with much else to do

  private static final String WAIT =
      "{\"worker\": \"flood\", \"queues\": [\"flood\"], \"limit\": 1, \"wait_seconds\": 60}";

  private static TestServer server;

  @RegisterExtension final TestTenant tenant = new TestTenant();

  private final AtomicInteger refused = new AtomicInteger();

  @BeforeAll
  static void start() {
    server =
        TestServer.start(
            TestServer.config()
                .withLimits(
                    new RequestLimits(10_000, MOST_POLLS, 10, 1 << 20).withPatience(PATIENCE)));
  }

  @AfterAll
  static void stop() {
    server.close();
  }

  @Test
  void hundreds_of_waits_by_one_token_are_told_so_and_keep_nobody_elses_work_waiting()
      throws Exception {
    Caller flood = server.as(Role.WORKER, tenant.name());
    Caller other = server.as(Role.OPERATOR, tenant.name());
    String kept = lease(other, enqueue(other));
    AtomicBoolean over = new AtomicBoolean();
    try (ExecutorService threads = Executors.newVirtualThreadPerTaskExecutor()) {
      List<Future<Reply>> replies = new ArrayList<>();
      for (int i = 0; i < ASKING; i++) {
        replies.add(threads.submit(() -> waitFor(flood)));
      }
      while (server.server().waiting(tenant.name()) < MOST_POLLS
          || refused.get() < ASKING - MOST_POLLS) {
        Thread.onSpinWait();
      }
      for (int i = 0; i < PERSISTENT; i++) {
        threads.execute(() -> {
          while (!over.get()) {
            waitFor(flood);
          }
        });
      }

      Duration slowest = Duration.ZERO;
      for (int i = 0; i < ROUNDS; i++) {
        long began = System.nanoTime();
        String id = enqueue(other);
        assertThat(renew(other, kept)).as("a heartbeat in the midst of it").isEqualTo("extended");
        finish(other, lease(other, id));
        Duration took = Duration.ofNanos(System.nanoTime() - began);
        slowest = took.compareTo(slowest) > 0 ? took : slowest;
      }
      over.set(true);
      assertThat(slowest).isLessThan(PROMPT);
      assertThat(server.server().waiting(tenant.name())).isEqualTo(MOST_POLLS);

      for (int i = 0; i < MOST_POLLS; i++) { // whoever waits still gets what they wait for
        tenant.jobs().enqueue(NewJob.of("a", i).withQueue("flood"));
      }
      int served = 0;
      for (Future<Reply> each : replies) {
        served += each.get().status() == 200 ? 1 : 0;
      }
      assertThat(served).isEqualTo(MOST_POLLS);
      finish(other, kept);
    }
    assertThat(tenant.query("SELECT id FROM {schema}.job_done WHERE state = 'succeeded'"))
        .hasSize(ROUNDS + 1);
  }

  private Reply waitFor(Caller flood) {
    Reply reply = flood.post("/api/v1/leases", WAIT);
    assertThat(reply.status()).as(reply.text()).isIn(200, 429);
    if (reply.status() == 429) {
      assertThat(reply.contentType()).startsWith("application/problem+json");
      assertThat(reply.code()).isEqualTo("TOO_MANY_LONG_POLLS");
      assertThat(reply.json().path("detail").asString()).contains("at once");
      refused.incrementAndGet();
    }
    return reply;
  }

  private static String enqueue(Caller caller) {
    Reply reply = caller.post("/api/v1/jobs", "{\"kind\": \"a\", \"queue\": \"work\"}");
    assertThat(reply.status()).as(reply.text()).isEqualTo(201);
    return reply.json().path("id").asString();
  }

  /** A lease of that job, as it is named in other requests. */
  private static String lease(Caller caller, String id) {
    Reply reply =
        caller.post("/api/v1/leases", "{\"worker\": \"w\", \"queues\": [\"work\"], \"limit\": 1}");
    JsonNode lease = reply.json().path("leases").path(0);
    assertThat(lease.path("job").path("id").asString()).as(reply.text()).isEqualTo(id);
    return "\"job_id\": \"%s\", \"fence\": %d".formatted(id, lease.path("fence").asLong());
  }

  private static String renew(Caller caller, String lease) {
    Reply reply =
        caller.post(
            "/api/v1/leases/extend", "{\"worker\": \"w\", \"leases\": [{%s}]}".formatted(lease));
    return reply.json().path("results").path(0).path("status").asString("");
  }

  private static void finish(Caller caller, String lease) {
    Reply reply =
        caller.post(
            "/api/v1/leases/finish",
            "{\"worker\": \"w\", \"results\": [{%s, \"outcome\": \"succeeded\"}]}"
                .formatted(lease));
    assertThat(reply.status()).as(reply.text()).isEqualTo(200);
  }

  @Test
  void a_request_that_comes_byte_by_byte_is_hung_up_on_and_who_waits_or_is_idle_is_not()
      throws Exception {
    Caller caller = server.as(Role.WORKER, tenant.name());
    try (ExecutorService threads = Executors.newVirtualThreadPerTaskExecutor();
        RawHttp idle = RawHttp.to(caller)) {
      idle.get("/api/v1/jobs");
      assertThat(idle.answer()).startsWith("HTTP/1.1 200");
      Future<Reply> waiting =
          threads.submit(() -> caller.post("/api/v1/leases", WAIT.replace("60", "8")));
      long began = System.nanoTime();
      dawdle("GET /api/v1/jobs HTTP/1.1\r\nHost: ");
      dawdle(
          "POST /api/v1/jobs HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer "
              + caller.token().orElseThrow()
              + "\r\nContent-Type: application/json\r\nContent-Length: 50000\r\n\r\n");

      assertThat(Duration.ofNanos(System.nanoTime() - began)).isGreaterThan(PATIENCE);
      assertThat(waiting.get().status()).isEqualTo(200);
      idle.get("/api/v1/jobs");
      assertThat(idle.answer()).startsWith("HTTP/1.1 200");
    }
    assertThat(tenant.query("SELECT id FROM {schema}.job_all")).isEmpty();
  }

  /** Goes on byte by byte until it is hung up on; never so slowly that it would count as idle. */
  private static void dawdle(String head) throws IOException {
    try (Socket socket = new Socket(InetAddress.getLoopbackAddress(), server.port())) {
      socket.setSoTimeout(50);
      socket.getOutputStream().write(head.getBytes(US_ASCII));
      while (true) {
        socket.getOutputStream().write('a');
        try {
          if (socket.getInputStream().read() < 0) {
            return;
          }
        } catch (SocketTimeoutException notYet) {
          socket.getOutputStream().flush();
        }
      }
    } catch (SocketException e) {
      assertThat(e).hasMessageMatching("(?i).*(reset|broken pipe|abort).*");
    }
  }
}
