package dev.holdfast.server;

import static org.assertj.core.api.Assertions.assertThat;

import dev.holdfast.server.Caller.Reply;
import dev.holdfast.server.auth.Role;
import dev.holdfast.testkit.TestTenant;
import java.net.URI;
import java.net.http.HttpRequest;
import java.net.http.HttpRequest.BodyPublishers;
import java.util.UUID;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import tools.jackson.databind.JsonNode;

/** Traces come in by headers or fields, and go out with the lease. */
class TraceOverHttpTest {

  private static final String API = "/api/v1";
  private static final String PARENT = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01";
  private static final String OTHER = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-00";

  @RegisterExtension final TestTenant tenant = new TestTenant();

  @Test
  void a_jobs_trace_is_that_of_the_request_and_reaches_its_worker() {
    Reply made = enqueue("{\"kind\": \"a\"}", PARENT);

    assertThat(made.status()).isEqualTo(201);
    assertThat(lease().path("traceparent").asString()).isEqualTo(PARENT);
    assertThat(lease().isMissingNode()).isTrue();
  }

  @Test
  void what_a_job_says_itself_counts_more_than_the_request() {
    enqueue(
        "{\"kind\": \"a\", \"traceparent\": \"%s\", \"tracestate\": \"x=1\"}".formatted(OTHER),
        PARENT);

    JsonNode lease = lease();
    assertThat(lease.path("traceparent").asString()).isEqualTo(OTHER);
    assertThat(lease.path("tracestate").asString()).isEqualTo("x=1");
  }

  @Test
  void a_header_that_makes_no_sense_is_ignored_and_a_field_is_refused() {
    Reply ignored = enqueue("{\"kind\": \"a\"}", "00-nonsense");
    Reply refused = enqueue("{\"kind\": \"a\", \"traceparent\": \"nonsense\"}", PARENT);

    assertThat(ignored.status()).isEqualTo(201);
    assertThat(lease().has("traceparent")).isFalse();
    assertThat(refused.status()).isEqualTo(400);
    assertThat(refused.text()).contains("traceparent");
  }

  @Test
  void a_queue_has_no_trace_for_all_of_its_jobs() {
    Reply refused =
        TestServer.shared()
            .as(Role.OPERATOR, tenant.name())
            .put(API + "/queues/q", "{\"defaults\": {\"traceparent\": \"%s\"}}".formatted(PARENT));

    assertThat(refused.status()).isEqualTo(400);
    assertThat(refused.text()).contains("traceparent");
  }

  @Test
  void nor_has_a_schedule_and_what_is_refused_is_not_stored() {
    Caller operator = TestServer.shared().as(Role.OPERATOR, tenant.name());

    Reply refused =
        operator.put(
            API + "/schedules/s",
            "{\"cron\": \"* * * * *\", \"kind\": \"a\", \"policy\": {\"traceparent\": \"%s\"}}"
                .formatted(PARENT));

    assertThat(refused.status()).isEqualTo(400);
    assertThat(refused.text()).contains("traceparent");
    assertThat(operator.get(API + "/schedules").json().path("schedules")).isEmpty();
  }

  private Reply enqueue(String json, String parent) {
    Caller submitter = TestServer.shared().as(Role.SUBMITTER, tenant.name());
    return Caller.send(
        HttpRequest.newBuilder(
                URI.create("http://127.0.0.1:%d%s/jobs".formatted(submitter.port(), API)))
            .POST(BodyPublishers.ofString(json))
            .header("Content-Type", "application/json")
            .header("Authorization", "Bearer " + submitter.token().orElseThrow())
            .header("traceparent", parent)
            .build());
  }

  private JsonNode lease() {
    return TestServer.shared()
        .as(Role.WORKER, tenant.name())
        .post(
            API + "/leases",
            "{\"worker\": \"%s\", \"queues\": [\"default\"]}".formatted(UUID.randomUUID()))
        .json()
        .path("leases")
        .path(0);
  }
}
