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
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Optional;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.RegisterExtension;

/** Whoever sends slowly, never ends, never reads or asks for too much keeps nobody else waiting. */
class SlowClientsTest {

  private static final int EACH = 100;
  private static final int ASKED = 100;
  private static final int MOST_POLLS = 3;
  private static final int MOST_STREAMS = 2;
  private static final Duration PROMPT =
      Duration.ofSeconds(10); // on a machine with much else to do

  private static TestServer server;

  @RegisterExtension final TestTenant tenant = new TestTenant();

  @BeforeAll
  static void start() {
    server =
        TestServer.start(
            TestServer.config()
                .withLimits(new RequestLimits(10_000, MOST_POLLS, MOST_STREAMS, 1 << 20)));
  }

  @AfterAll
  static void stop() {
    server.close();
  }

  @Test
  @Timeout(120)
  void hundreds_who_dawdle_keep_nobody_waiting_and_leave_nothing_behind() throws Exception {
    Caller admin = server.as(Role.ADMIN, tenant.name());
    tenant.jobs().enqueue(NewJob.of("a", "x".repeat(200_000)));
    String token = admin.token().orElseThrow();
    String head = "Host: localhost\r\nAuthorization: Bearer " + token + "\r\n";
    int threads = platformThreads();
    List<Socket> sockets = new ArrayList<>();
    try {
      for (int i = 0; i < EACH; i++) {
        sockets.add(sending("GET /api/v1/jobs HTTP/1.1\r\nHost: loc")); // and no more
        sockets.add(
            sending(
                "POST /api/v1/jobs HTTP/1.1\r\n"
                    + head
                    + "Content-Type: application/json\r\nContent-Length: 500000\r\n\r\n{\"kind\""));
        sockets.add(
            sending(
                "POST /api/v1/jobs HTTP/1.1\r\n"
                    + head
                    + "Content-Type: application/json\r\nTransfer-Encoding: chunked\r\n\r\n1\r\n{"));
        // Answers of some megabytes that nobody takes.
        sockets.add(sending(("GET /api/v1/jobs?limit=1 HTTP/1.1\r\n" + head + "\r\n").repeat(20)));
      }
      long slowest = 0;
      for (int i = 0; i < ASKED; i++) {
        for (Socket dawdler : sockets.subList(0, 2)) {
          dawdler.getOutputStream().write(' '); // and so on, all the while
        }
        long began = System.nanoTime();
        assertThat(admin.get(i % 2 == 0 ? "/healthz" : "/api/v1/jobs?limit=1").status())
            .isEqualTo(200);
        slowest = Math.max(slowest, System.nanoTime() - began);
      }
      assertThat(Duration.ofNanos(slowest)).isLessThan(PROMPT);
      assertThat(platformThreads() - threads).as("threads for them").isLessThan(50);
    } finally {
      for (Socket socket : sockets) {
        socket.close();
      }
    }
    awaitNoConnections();
    assertThat(tenant.query("SELECT id FROM {schema}.job")).hasSize(1);
  }

  private static Socket sending(String text) throws IOException {
    Socket socket = new Socket(InetAddress.getLoopbackAddress(), server.port());
    socket.getOutputStream().write(text.getBytes(US_ASCII));
    return socket;
  }

  @Test
  @Timeout(120)
  void more_waits_than_a_token_may_have_are_refused_and_free_again_when_they_end()
      throws Exception {
    Caller flood = server.as(Role.WORKER, tenant.name());
    Caller other = server.as(Role.WORKER, tenant.name());
    String wait = "{\"worker\": \"w\", \"queues\": [\"default\"], \"wait_seconds\": 30}";
    try (ExecutorService threads = Executors.newVirtualThreadPerTaskExecutor()) {
      List<Future<Reply>> waiting =
          Stream.generate(() -> threads.submit(() -> flood.post("/api/v1/leases", wait)))
              .limit(MOST_POLLS)
              .toList();
      while (server.server().waiting(tenant.name()) < MOST_POLLS) {
        Thread.onSpinWait();
      }

      Reply oneTooMany = flood.post("/api/v1/leases", wait);
      assertThat(oneTooMany.status()).isEqualTo(429);
      assertThat(oneTooMany.code()).isEqualTo("TOO_MANY_LONG_POLLS");
      assertThat(flood.get("/api/v1/jobs").status()).as("what does not wait").isEqualTo(200);
      Future<Reply> others = threads.submit(() -> other.post("/api/v1/leases", wait));
      while (server.server().waiting(tenant.name()) < MOST_POLLS + 1) {
        Thread.onSpinWait();
      }

      for (int i = 0; i <= MOST_POLLS; i++) {
        tenant.jobs().enqueue(NewJob.of("a", i));
      }
      for (Future<Reply> each : waiting) {
        assertThat(each.get().status()).isEqualTo(200);
      }
      assertThat(others.get().status()).isEqualTo(200);
      tenant.jobs().enqueue(NewJob.of("a", 1));
      assertThat(flood.post("/api/v1/leases", wait).status()).as("there is room").isEqualTo(200);
    }
  }

  @Test
  @Timeout(120)
  void more_streams_than_a_token_may_have_are_refused() throws Exception {
    Caller flood = server.as(Role.VIEWER, tenant.name());
    List<RawHttp> streams = new ArrayList<>();
    try {
      for (int i = 0; i < MOST_STREAMS; i++) {
        RawHttp stream = RawHttp.to(flood);
        streams.add(stream);
        stream.get("/api/v1/events");
        assertThat(stream.answer()).contains(" 200 ");
      }
      Reply oneTooMany = flood.get("/api/v1/events");

      assertThat(oneTooMany.status()).isEqualTo(429);
      assertThat(oneTooMany.code()).isEqualTo("TOO_MANY_STREAMS");
      assertThat(server.as(Role.VIEWER, tenant.name()).get("/api/v1/jobs").status()).isEqualTo(200);
    } finally {
      for (RawHttp stream : streams) {
        stream.close();
      }
    }
  }

  @Test
  void more_requests_a_second_than_a_token_may_send_are_refused_and_others_are_answered() {
    try (TestServer strict =
        TestServer.start(TestServer.config().withLimits(new RequestLimits(5, 10, 10, 1 << 20)))) {
      Caller flood = strict.as(Role.VIEWER, tenant.name());
      Optional<Reply> refused =
          Stream.generate(() -> flood.get("/api/v1/jobs"))
              .limit(1_000)
              .filter(reply -> reply.status() == 429)
              .findFirst();

      assertThat(refused.orElseThrow().code()).isEqualTo("TOO_MANY_REQUESTS");
      assertThat(strict.as(Role.VIEWER, tenant.name()).get("/api/v1/jobs").status()).isEqualTo(200);
    }
  }

  private static int platformThreads() {
    return Thread.getAllStackTraces().size();
  }

  // The server's ends, as the kernel knows them: those that are open, and those that only we
  // closed.
  private static void awaitNoConnections() throws IOException {
    String port = String.format(Locale.ROOT, ":%04X", server.port());
    long left;
    do {
      Thread.onSpinWait();
      try (Stream<String> lines =
          Stream.of("/proc/net/tcp", "/proc/net/tcp6")
              .map(Path::of)
              .flatMap(SlowClientsTest::lines)) {
        left =
            lines
                .map(line -> line.strip().split("\\s+"))
                .filter(line -> line.length > 3 && line[1].endsWith(port))
                .filter(line -> line[3].equals("08")) // CLOSE_WAIT: ours is gone, theirs is not
                .count();
      }
    } while (left > 0);
  }

  private static Stream<String> lines(Path file) {
    try {
      return Files.readAllLines(file).stream();
    } catch (IOException e) {
      return Stream.empty();
    }
  }
}
