package dev.holdfast.server;

import static org.assertj.core.api.Assertions.assertThat;

import dev.holdfast.job.NewJob;
import dev.holdfast.job.Outcome;
import dev.holdfast.lease.ClaimRequest;
import dev.holdfast.lease.Lease;
import dev.holdfast.lease.RemoteLeases;
import dev.holdfast.lease.Report;
import dev.holdfast.server.auth.Role;
import dev.holdfast.testkit.TestTenant;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse.BodyHandlers;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

/** What is followed as it happens. */
class StreamsOverHttpTest {

  @RegisterExtension final TestTenant tenant = new TestTenant();

  @Test
  void a_log_is_followed_to_the_jobs_end_and_from_where_one_was() throws Exception {
    RemoteLeases leases = tenant.holdfast().remoteLeases(tenant.name(), Set::of);
    tenant.jobs().enqueue(NewJob.of("a", 1));
    Lease lease = leases.claim(ClaimRequest.of("w", Set.of("default"), 1)).leases().getFirst();
    leases.report(lease.key(), Report.ofLog(List.of("one", "two")));

    List<String> events = new ArrayList<>();
    try (BufferedReader stream =
        open("/api/v1/jobs/" + lease.key().jobId() + "/logs?follow=true")) {
      await(stream, "event: log", events);
      leases.report(lease.key(), Report.ofLog(List.of("three")));
      leases.finish(
          List.of(
              new RemoteLeases.End(
                  "w",
                  lease.key().jobId(),
                  lease.key().fence(),
                  Outcome.succeeded(),
                  Optional.empty())));
      await(stream, "event: end", events);
    }
    List<String> rest = new ArrayList<>();
    try (BufferedReader stream =
        open("/api/v1/jobs/" + lease.key().jobId() + "/logs?follow=true&offset=4")) {
      await(stream, "event: end", rest);
    }

    assertThat(String.join("\n", events)).contains("one").contains("two").contains("three");
    assertThat(events).contains("id: 8", "id: 14");
    assertThat(String.join("\n", rest)).doesNotContain("\"one\"").contains("two").contains("three");
  }

  @Test
  void those_who_look_hear_that_something_changed() throws Exception {
    List<String> events = new ArrayList<>();
    try (BufferedReader stream = open("/api/v1/events")) {
      await(stream, "event: hello", events);
      tenant.jobs().enqueue(NewJob.of("a", 1));
      await(stream, "event: changed", events);
    }

    assertThat(events).contains("event: changed");
  }

  private BufferedReader open(String path) throws IOException, InterruptedException {
    Caller viewer = TestServer.shared().as(Role.VIEWER, tenant.name());
    HttpRequest request =
        HttpRequest.newBuilder(URI.create("http://127.0.0.1:" + viewer.port() + path))
            .header("Authorization", "Bearer " + viewer.token().orElseThrow())
            .header("Accept", "text/event-stream")
            .build();
    return new BufferedReader(
        new InputStreamReader(
            HttpClient.newHttpClient().send(request, BodyHandlers.ofInputStream()).body(),
            StandardCharsets.UTF_8));
  }

  private static void await(BufferedReader stream, String line, List<String> seen)
      throws IOException {
    for (String read = stream.readLine(); read != null; read = stream.readLine()) {
      seen.add(read);
      if (read.equals(line)) {
        if (!line.endsWith("end") && !line.endsWith("hello")) {
          seen.add(String.valueOf(stream.readLine()));
        }
        return;
      }
    }
    throw new AssertionError("no '" + line + "' in " + seen);
  }
}
