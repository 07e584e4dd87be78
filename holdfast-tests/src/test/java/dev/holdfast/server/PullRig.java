package dev.holdfast.server;

import static org.assertj.core.api.Assertions.assertThat;

import dev.holdfast.job.NewJob;
import dev.holdfast.job.Payload;
import dev.holdfast.job.PolicyOverrides;
import dev.holdfast.server.Caller.Reply;
import dev.holdfast.testkit.TestTenant;
import java.util.List;
import java.util.Map;
import java.util.UUID;
import org.junit.jupiter.api.extension.RegisterExtension;
import tools.jackson.databind.JsonNode;

/** A tenant whose jobs are pulled, and workers that know nothing but the document. */
abstract class PullRig {

  static final String PULL = "/api/pull_job";
  static final String REPORT = "/api/report_results";

  @RegisterExtension final TestTenant tenant = new TestTenant();

  PlainHttp plain() {
    return PlainHttp.at(TestServer.open().addressOf(tenant.name()));
  }

  PlainHttp worker(String name) {
    return plain().with("X-Worker-Id", name);
  }

  JsonNode pull(String worker) {
    Reply reply = worker(worker).get(PULL);
    assertThat(reply.status()).as(reply.text()).isEqualTo(200);
    return reply.json().path("job");
  }

  JsonNode report(String worker, JsonNode job, String more) {
    Reply reply =
        worker(worker).post(REPORT, body(job.path("id").asString(), attemptOf(job) + more));
    assertThat(reply.status()).as(reply.text()).isEqualTo(200);
    return reply.json();
  }

  static String attemptOf(JsonNode job) {
    return "\"attempt_id\": %d, ".formatted(job.path("attempt_id").asLong());
  }

  static String body(String id, String more) {
    return "{\"job_id\": \"%s\"%s}".formatted(id, more.isEmpty() ? "" : ", " + more);
  }

  UUID enqueue(PolicyOverrides policy) {
    return tenant
        .jobs()
        .enqueue(
            NewJob.of("scrape", new Payload("{\"q\": \"cafés\"}"))
                .withQueue("pull")
                .withPolicy(policy))
        .id();
  }

  Map<String, Object> row(UUID id) {
    return tenant
        .query("SELECT * FROM {schema}.pull_jobs WHERE id = '%s'".formatted(id))
        .getFirst();
  }

  List<Map<String, Object>> attempts(UUID id) {
    return tenant.query(
        "SELECT * FROM {schema}.job_attempts WHERE job_id = '%s' ORDER BY id".formatted(id));
  }
}
