package dev.holdfast.server;

import static org.assertj.core.api.Assertions.assertThat;

import dev.holdfast.job.NewJob;
import dev.holdfast.server.Caller.Reply;
import dev.holdfast.testkit.Covers;
import java.io.IOException;
import java.nio.file.Files;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.UUID;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import tools.jackson.databind.JsonNode;

/** What operators do by the dialect: requeue, fail, cancel, delete and clean up. */
class AgentOperatorsTest extends AgentsRig {

  @Covers("C10")
  @ParameterizedTest
  @CsvSource({
    "requeue, queued, false, 200, queued",
    "requeue, dispatched, false, 200, queued",
    "requeue, running, false, 409, running",
    "requeue, running, true, 200, queued",
    "requeue, stop_requested, true, 200, queued",
    "requeue, finished, false, 409, finished",
    "requeue, finished, true, 200, queued",
    "requeue, canceled, true, 200, queued",
    "fail, queued, false, 409, queued",
    "fail, queued, true, 200, failed",
    "fail, dispatched, false, 200, failed",
    "fail, running, false, 200, failed",
    "fail, finished, false, 409, finished",
    "fail, finished, true, 200, failed",
    "fail, failed, true, 200, failed",
    "cancel, queued, false, 200, canceled",
    "cancel, dispatched, false, 200, canceled",
    "cancel, running, false, 200, canceled",
    "cancel, stop_requested, false, 200, canceled",
    "cancel, stopped, false, 409, stopped",
    "cancel, stopped, true, 200, canceled",
    "cancel, finished, true, 200, canceled"
  })
  void operators_act_as_the_contract_allows(
      String act, String from, boolean force, int answer, String after) {
    String id = inStatus(from);

    Reply reply =
        fleet
            .caller()
            .post(
                "/ops/jobs/" + id + "/" + act,
                force ? "{\"force\": true, \"reason\": \"stuck\"}" : "");

    assertThat(reply.status()).as(reply.text()).isEqualTo(answer);
    assertThat(fleet.status(id)).isEqualTo(after);
    assertThat(fleet.json("jobs/" + id + "/status.json").path("status").asString())
        .isEqualTo(after);
    assertThat(fleet.json("job_track.json").path(id).path("status").asString()).isEqualTo(after);
    assertThat(fleet.file("queue/" + id + ".json").toFile().exists())
        .isEqualTo(after.equals("queued"));
  }

  @Test
  void a_job_is_deleted_whatever_text_other_jobs_have() {
    fleet.caller().post("/api/v1/jobs", "{\"kind\": \"k\", \"args\": {\"a\": \"\\u0000\"}}");
    String id = fleet.submit();

    assertThat(delete(id).status()).isEqualTo(200);

    assertThat(fleet.json("job_track.json").has(id)).isFalse();
    assertThat(fleet.file("queue/" + id + ".json").toFile().exists()).isFalse();
    assertThat(fleet.file("configs/" + id + ".yaml").toFile().exists()).isFalse();
  }

  @Covers({"C8", "C10"})
  @Test
  void a_deleted_job_is_gone_with_all_that_it_left() throws IOException {
    fleet.submit();
    String id = fleet.running("a");
    Files.createDirectories(fleet.file("jobs/" + id + "/results"));
    Files.writeString(fleet.file("jobs/" + id + "/results/result.json"), "{\"a\": 1}");
    assertThat(fleet.caller().get("/result/" + id).json().path("a").asInt()).isEqualTo(1);

    assertThat(delete(id).status()).isEqualTo(200);

    assertThat(fleet.file("jobs/" + id)).doesNotExist();
    assertThat(fleet.json("job_track.json").has(id)).isFalse();
    Reply again = delete(id);
    assertThat(again.status()).isEqualTo(404);
    assertThat(again.json().path("status").asString()).isEqualTo("not_found");
    assertThat(fleet.report("a", id, "finished").status()).isEqualTo(404);
    assertThat(fleet.caller().get("/status/" + id).status()).isEqualTo(404);
  }

  @Covers("C8")
  @Test
  void the_configuration_that_was_written_for_a_job_goes_with_it_and_one_with_a_name_stays()
      throws IOException {
    String own = fleet.submit("{\"config\": {\"a\": 1}}");
    String saved = fleet.submit("{\"config\": {\"a\": 1}, \"save_as\": \"kept.yaml\"}");
    Files.writeString(fleet.file("configs/given.yaml"), "a: 1");
    String named = fleet.submit("{\"config_path\": \"given.yaml\"}");
    String shared = fleet.submit("{\"config\": {\"a\": 1}}");
    fleet.submit("{\"config_path\": \"%s.yaml\"}".formatted(shared));
    String natively = fleet.submit("{\"config\": {\"a\": 1}}");
    tenant
        .jobs()
        .enqueue(
            NewJob.of("simulation", Map.of("config_path", natively + ".yaml")).withQueue("agents"));
    assertThat(fleet.file("configs/" + own + ".yaml")).exists();

    for (String id : List.of(own, saved, named, shared, natively)) {
      assertThat(delete(id).status()).isEqualTo(200);
    }

    assertThat(fleet.file("configs/" + own + ".yaml")).doesNotExist();
    assertThat(fleet.file("configs/kept.yaml")).exists();
    assertThat(fleet.file("configs/given.yaml")).exists();
    assertThat(fleet.file("configs/" + shared + ".yaml")).as("another job's, too").exists();
    assertThat(fleet.file("configs/" + natively + ".yaml")).as("called otherwise").exists();
  }

  private Reply delete(String id) {
    return fleet.caller().send("DELETE", "/job/" + id, Optional.empty());
  }

  @Covers("C10")
  @Test
  void cleanup_removes_what_stands_for_no_job_and_leaves_the_rest() throws IOException {
    String waiting = fleet.submit();
    fleet.submit();
    String done = fleet.running("a").equals(waiting) ? waiting : "";
    fleet.report("a", waiting, "finished");
    String good = fleet.caller().get("/queue").json().get(0).path("job_id").asString();
    String orphan = UUID.randomUUID().toString();
    Files.writeString(fleet.file("queue/" + orphan + ".json"), "{}");
    Files.writeString(fleet.file("queue/" + waiting + ".json.claim.a"), "{}");
    Files.writeString(fleet.file("queue/rubbish"), "?");
    String invalid =
        tenant
            .jobs()
            .enqueue(
                NewJob.of("simulation", Map.of("config_path", "../../etc")).withQueue("agents"))
            .id()
            .toString();

    JsonNode cleaned = fleet.caller().post("/ops/queue/cleanup", "").json();

    List<String> removed = new ArrayList<>();
    cleaned.path("removed").forEach(id -> removed.add(id.asString()));
    assertThat(removed).containsExactlyInAnyOrder(invalid, orphan, done, "rubbish");
    assertThat(cleaned.path("count").asInt()).isEqualTo(4);
    assertThat(fleet.directory().resolve("queue").toFile().list()).containsExactly(good + ".json");
    assertThat(fleet.status(invalid)).isEqualTo("failed");
    assertThat(fleet.caller().post("/ops/queue/cleanup", "").json().path("count").asInt()).isZero();
  }

  @Test
  @Timeout(60)
  void an_agent_that_is_to_drain_is_given_nothing_more() {
    String id = drain("away");

    assertThat(fleet.take("a")).isEqualTo(id);
  }

  @Covers("C14")
  @Test
  @Timeout(60)
  void an_agent_that_drains_and_asks_is_there_and_keeps_what_it_has() {
    fleet.set("JOB_STATUS_TTL", 86_400);
    fleet.submit();
    String running = fleet.running("away");
    drain("away");

    for (int i = 0; i < 4; i++) { // longer than a silent agent keeps its jobs
      tenant.advance(Duration.ofSeconds(50));
      assertThat(fleet.next("away").status()).isEqualTo(204);
    }
    fleet.reap();

    assertThat(fleet.status(running)).isEqualTo("running");
    assertThat(online("away")).isTrue();
  }

  @Test
  @Timeout(60)
  void a_job_does_not_wait_for_an_agent_that_drains() {
    String id = drain("away");
    requeue(id, "{\"preferred_host\": \"away\", \"require_host\": false}");
    fleet.beat("away");

    assertThat(fleet.take("b")).isEqualTo(id);
    assertThat(online("away")).isTrue();
  }

  private boolean online(String agent) {
    return fleet.caller().get("/hosts").json().path("hosts").path(agent).path("online").asBoolean();
  }

  /** Returns a job that the agent could have had, once it gets no more. */
  private String drain(String agent) {
    do { // until it is known
      assertThat(fleet.next(agent).status()).isEqualTo(204);
    } while (fleet.caller().post("/api/v1/workers/" + agent + "/drain", "{}").status() == 404);
    String id = fleet.submit();
    while (fleet.next(agent).status() != 204) {
      fleet.report(agent, id, "running");
      fleet.report(agent, id, "finished");
      id = fleet.submit();
    }
    return id;
  }
}
