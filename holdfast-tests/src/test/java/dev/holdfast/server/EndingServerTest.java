package dev.holdfast.server;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;

import dev.holdfast.job.NewJob;
import dev.holdfast.server.Caller.Reply;
import dev.holdfast.server.auth.Role;
import dev.holdfast.testkit.TestTenant;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStream;
import java.io.InputStreamReader;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.net.http.HttpResponse.BodyHandlers;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

/** A node that ends sees off whoever streams or waits; what is cut off has no clean end. */
class EndingServerTest {

  private static final String CLAIM =
      "{\"worker\": \"%s\", \"queues\": [\"default\"], \"wait_seconds\": %d}";

  @RegisterExtension final TestTenant tenant = new TestTenant();

  @Test
  void all_streams_come_to_a_clean_end() throws Exception {
    List<BufferedReader> streams = new ArrayList<>();
    try (TestServer server = TestServer.start(Fleet.open())) {
      String job = tenant.jobs().enqueue(NewJob.of("a", 1)).id().toString();
      for (String path :
          List.of(
              "/api/v1/events",
              "/ui/events",
              "/api/v1/jobs/" + job + "/logs?follow=true",
              "/ui/jobs/" + job + "/log",
              "/logs/" + simulation(server) + "?follow=true")) {
        streams.add(open(server, path));
      }
      for (BufferedReader stream : streams) {
        assertThat(stream.readLine()).as("it has begun").isNotNull();
      }
    }

    for (BufferedReader stream : streams) {
      assertThat(stream.lines().toList()).as("up to a clean end").isNotNull();
    }
  }

  /** An agents' job that runs and has a log. */
  private String simulation(TestServer server) throws IOException {
    Fleet fleet = new Fleet(server, tenant);
    fleet.submit();
    String id = fleet.running("a");
    Path log = fleet.file("jobs/" + id + "/logs/" + id + ".log");
    Files.createDirectories(log.getParent());
    Files.writeString(log, "begun\n");
    return id;
  }

  private BufferedReader open(TestServer server, String path)
      throws IOException, InterruptedException {
    HttpRequest request =
        HttpRequest.newBuilder(URI.create("http://127.0.0.1:" + server.port() + path))
            .header("X-Holdfast-Tenant", tenant.name().value())
            .header("Accept", "text/event-stream")
            .build();
    HttpResponse<InputStream> answer =
        HttpClient.newHttpClient().send(request, BodyHandlers.ofInputStream());
    assertThat(answer.statusCode()).as(path).isEqualTo(200);
    return new BufferedReader(new InputStreamReader(answer.body(), UTF_8));
  }

  @Test
  void claims_that_wait_are_answered_that_there_is_nothing() throws Exception {
    Future<Reply> waits;
    Future<Reply> drained;
    try (ExecutorService threads = Executors.newVirtualThreadPerTaskExecutor();
        TestServer server =
            TestServer.start(
                TestServer.config().withLimits(new RequestLimits(10_000, 1, 1, 1 << 20)))) {
      Caller worker = server.as(Role.WORKER, tenant.name());
      waits = threads.submit(() -> worker.post("/api/v1/leases", CLAIM.formatted("w", 60)));
      while (server.server().waiting(tenant.name()) < 1) {
        Thread.onSpinWait();
      }
      Caller away = server.as(Role.WORKER, tenant.name());
      Caller operator = server.as(Role.OPERATOR, tenant.name());
      do { // until it is known
        away.post("/api/v1/leases", CLAIM.formatted("away", 0));
      } while (operator.post("/api/v1/workers/away/drain", "{}").status() == 404);
      while (!away.post("/api/v1/leases", CLAIM.formatted("away", 0)).text().contains("drain")) {
        Thread.onSpinWait();
      }
      drained = threads.submit(() -> waitedFor(away));
      // Its token may have one wait at a time.
      while (away.post("/api/v1/leases", CLAIM.formatted("away", 0)).status() != 429) {
        Thread.onSpinWait();
      }
    }

    assertThat(waits.get().text()).isEqualTo("{\"leases\":[]}");
    assertThat(drained.get().text()).isEqualTo("{\"leases\":[],\"drain\":true}");
  }

  /** The answer to a claim that waits, once it is let in. */
  private static Reply waitedFor(Caller away) {
    Reply reply;
    do {
      reply = away.post("/api/v1/leases", CLAIM.formatted("away", 60));
    } while (reply.status() == 429);
    return reply;
  }
}
