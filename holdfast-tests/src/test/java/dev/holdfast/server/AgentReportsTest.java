package dev.holdfast.server;

import static org.assertj.core.api.Assertions.assertThat;

import dev.holdfast.api.Json;
import dev.holdfast.server.Caller.Reply;
import dev.holdfast.testkit.Covers;
import java.time.Duration;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.node.ObjectNode;

/** What agents say of a job, and what is shown where they have said nothing. */
class AgentReportsTest extends AgentsRig {

  private static final int MORE_THAN_IS_KEPT = 20_000;

  private Reply nameless(String id, String status) {
    ObjectNode json = Json.object().put("job_id", id).put("status", status);
    return fleet.caller().post("/api/agent/job-status", Json.write(json));
  }

  private JsonNode statusFile(String id) {
    return fleet.json("jobs/" + id + "/status.json");
  }

  private JsonNode infoFile(String id) {
    return fleet.json("jobs/" + id + "/job_info.json");
  }

  private boolean isOnline(String host) {
    JsonNode hosts = fleet.caller().get("/hosts").json().path("hosts");
    return hosts.path(host).path("online").asBoolean();
  }

  private void natively(String id, String act) {
    Reply reply = fleet.caller().post("/api/v1/jobs/" + id + "/" + act, "{}");
    assertThat(reply.status()).as(reply.text()).isEqualTo(200);
  }

  private void later(int seconds) {
    tenant.advance(Duration.ofSeconds(seconds));
    fleet.reap();
  }

  @Covers({"C14", "C16"})
  @Test
  void a_report_without_a_name_is_a_sign_of_life_of_the_agent_that_has_the_job() {
    fleet.set("JOB_STATUS_TTL", 86_400);
    fleet.set("WORKER_STALE_GRACE_SECONDS", 0);
    fleet.submit();
    String id = fleet.running("a");

    for (int beats = 0; beats < 3; beats++) {
      later(59);
      assertThat(nameless(id, "running").status()).isEqualTo(200);
    }

    assertThat(statusFile(id).path("status").asString()).isEqualTo("running");
    assertThat(isOnline("a")).isTrue();
    later(61);
    assertThat(statusFile(id).path("status").asString()).as("silent at last").isEqualTo("failed");
  }

  @Covers("C14")
  @Test
  void a_report_without_a_name_about_a_job_that_nobody_has_is_nobodys_sign_of_life() {
    fleet.submit();
    String id = fleet.take("a");
    requeue(id, "");
    tenant.advance(Duration.ofSeconds(61));

    assertThat(nameless(id, "running").status()).isEqualTo(409);

    assertThat(isOnline("a")).isFalse();
  }

  @Covers({"C4", "C15"})
  @Test
  void one_whose_agent_fell_silent_when_it_was_cancelled_is_canceled_and_not_stopped() {
    fleet.submit();
    String id = fleet.running("a");
    natively(id, "cancel");
    assertThat(fleet.report("a", id, "stop_requested").status()).isEqualTo(200);

    later(301);

    assertThat(fleet.status(id)).isEqualTo("canceled");
    assertThat(statusFile(id).path("status").asString()).isEqualTo("canceled");
    assertThat(fleet.json("job_track.json").path(id).path("status").asString())
        .isEqualTo("canceled");
    assertThat(fleet.report("a", id, "stopped").status()).as("too late").isEqualTo(409);
  }

  @Covers({"C4", "C15"})
  @Test
  void one_whose_agent_said_that_it_stopped_when_it_was_cancelled_is_stopped() {
    fleet.submit();
    String id = fleet.running("a");
    natively(id, "cancel");

    assertThat(fleet.report("a", id, "stopped").status()).isEqualTo(200);

    assertThat(fleet.status(id)).isEqualTo("stopped");
    assertThat(statusFile(id).path("status").asString()).isEqualTo("stopped");
  }

  @Covers({"C8", "C10"})
  @ParameterizedTest
  @CsvSource({"finished, fail", "finished, cancel", "failed, cancel", "stopped, fail"})
  void one_that_ended_otherwise_on_somebodys_word_still_names_the_agent_that_had_it(
      String end, String act) {
    String id = inStatus(end);

    Reply reply = fleet.caller().post("/ops/jobs/" + id + "/" + act, "{\"force\": true}");

    assertThat(reply.status()).as(reply.text()).isEqualTo(200);
    assertThat(infoFile(id).path("target_host").asString()).isEqualTo("a");
    assertThat(statusFile(id).path("worker_id").asString()).isEqualTo("a");
    assertThat(fleet.caller().get("/job-info/" + id).json()).isEqualTo(infoFile(id));
  }

  @Covers({"C8", "C10"})
  @ParameterizedTest
  @CsvSource({"running", "finished"})
  void one_that_was_requeued_and_canceled_while_it_waited_names_nobody(String before) {
    String id = inStatus(before);
    requeue(id, "{\"force\": true}");

    fleet.caller().post("/ops/jobs/" + id + "/cancel", "");

    assertThat(statusFile(id).path("status").asString()).isEqualTo("canceled");
    assertThat(infoFile(id).path("target_host").isNull()).isTrue();
    assertThat(statusFile(id).has("worker_id")).isFalse();
  }

  @Covers("C9")
  @Test
  void details_that_are_too_long_are_cut_and_the_report_counts() {
    fleet.submit();
    String id = fleet.running("a");
    ObjectNode said = Json.object().put("exit_code", 0);
    said.putObject("details").put("trace", "\"x\n".repeat(MORE_THAN_IS_KEPT / 4));

    Reply reply = fleet.report("a", id, "finished", said);

    assertThat(reply.status()).as(reply.text()).isEqualTo(200);
    JsonNode status = statusFile(id);
    assertThat(status.path("status").asString()).isEqualTo("finished");
    assertThat(status.path("exit_code").asInt()).isZero();
    assertThat(status.path("details").path("cut").asBoolean()).isTrue();
    assertThat(status.path("details").path("text").asString())
        .startsWith("{\"trace\":\"")
        .endsWith("… (cut)")
        .hasSizeLessThan(MORE_THAN_IS_KEPT);
    assertThat(fleet.caller().get("/status/" + id).json()).isEqualTo(status);
  }

  @Covers("C9")
  @Test
  void details_that_are_one_long_text_are_cut_and_the_report_counts() {
    fleet.submit();
    String id = fleet.running("a");
    ObjectNode said = Json.object().put("details", "x".repeat(MORE_THAN_IS_KEPT));

    assertThat(fleet.report("a", id, "failed", said).status()).isEqualTo(200);

    JsonNode details = statusFile(id).path("details");
    assertThat(details.path("cut").asBoolean()).isTrue();
    assertThat(details.path("text").asString()).startsWith("xxx").endsWith("… (cut)");
    assertThat(fleet.status(id)).isEqualTo("failed");
  }

  @Covers("C13")
  @Test
  void an_exit_code_without_a_sign_and_a_container_without_a_name_cost_no_report() {
    fleet.submit();
    String id = fleet.running("a");

    Reply reply =
        fleet.report(
            "a",
            id,
            "failed",
            Json.object().put("exit_code", 3_221_225_477L).put("container_id", ""));

    assertThat(reply.status()).as(reply.text()).isEqualTo(200);
    assertThat(statusFile(id).path("exit_code").asInt()).isEqualTo((int) 3_221_225_477L);
    assertThat(statusFile(id).has("container_id")).isFalse();
  }
}
