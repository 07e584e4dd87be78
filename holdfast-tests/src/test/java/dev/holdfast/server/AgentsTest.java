package dev.holdfast.server;

import static org.assertj.core.api.Assertions.assertThat;

import dev.holdfast.api.Json;
import dev.holdfast.audit.Act;
import dev.holdfast.server.Caller.Reply;
import dev.holdfast.testkit.Covers;
import java.io.IOException;
import java.nio.file.Files;
import java.time.Duration;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.UUID;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import tools.jackson.databind.JsonNode;

/** The dialect of remote agents, as its contract has it. */
class AgentsTest extends AgentsRig {

  @Covers({"C5", "C8", "C9", "C11"})
  @Test
  void a_job_goes_the_normal_path_and_every_answer_and_file_follows() {
    Reply submitted =
        fleet
            .caller()
            .post(
                "/run-simulation",
                """
                {"config": {"experiment": {"name": "Demo Ä", "run_name": "Run1"}, "n": [1, "yes"]},
                 "save_as": "demo.yaml", "env": {"SEED": 7}}
                """);

    assertThat(submitted.status()).isEqualTo(200);
    String id = submitted.json().path("job_id").asString();
    assertThat(submitted.json().path("status").asString()).isEqualTo("queued");
    assertThat(submitted.json().path("host").isNull()).isTrue();
    assertThat(submitted.json().path("job_name").asString()).isEqualTo("Demo__-Run1");
    assertThat(fleet.file("configs/demo.yaml")).content().contains("name: \"Demo Ä\"");
    assertThat(fleet.json("queue/" + id + ".json").toString())
        .isEqualTo("{\"job_id\":\"" + id + "\",\"preferred_host\":null,\"require_host\":false}");
    assertThat(fleet.json("jobs/" + id + "/status.json").path("status").asString())
        .isEqualTo("queued");

    JsonNode payload = fleet.next("tiago-gpu").json();

    String container = "opeva_job_Demo__-Run1_" + id.substring(0, 8);
    assertThat(payload.path("job_id").asString()).isEqualTo(id);
    assertThat(payload.path("job_name").asString()).isEqualTo("Demo__-Run1");
    assertThat(payload.path("config_path").asString()).isEqualTo("configs/demo.yaml");
    assertThat(payload.path("preferred_host").isNull()).isTrue();
    assertThat(payload.path("image").asString()).isEqualTo("calof/opeva_simulator:latest");
    assertThat(payload.path("command").asString())
        .isEqualTo("--config /data/configs/demo.yaml --job_id " + id);
    assertThat(payload.path("container_name").asString()).isEqualTo(container);
    assertThat(payload.path("volumes").toString())
        .isEqualTo(
            "[{\"host\":\"" + fleet.directory() + "\",\"container\":\"/data\",\"mode\":\"rw\"}]");
    assertThat(payload.path("env").toString()).isEqualTo("{\"SEED\":\"7\"}");
    assertThat(fleet.status(id)).isEqualTo("dispatched");
    assertThat(fleet.file("queue/" + id + ".json")).doesNotExist();
    assertThat(fleet.file("queue/" + id + ".json.claim.tiago-gpu")).exists();
    assertThat(info(id).path("target_host").asString()).isEqualTo("tiago-gpu");

    Reply started =
        fleet.report(
            "tiago-gpu",
            id,
            "running",
            Json.object().put("container_id", "c1").put("container_name", container));

    assertThat(started.json().toString()).isEqualTo("{\"ok\":true,\"status\":\"running\"}");
    assertThat(fleet.file("queue/" + id + ".json.claim.tiago-gpu")).doesNotExist();
    assertThat(info(id).path("container_id").asString()).isEqualTo("c1");

    fleet.report("tiago-gpu", id, "finished", Json.object().put("exit_code", 0));

    JsonNode status = fleet.caller().get("/status/" + id).json();
    assertThat(status.path("status").asString()).isEqualTo("finished");
    assertThat(status.path("worker_id").asString()).isEqualTo("tiago-gpu");
    assertThat(status.path("exit_code").asInt()).isZero();
    assertThat(status).isEqualTo(fleet.json("jobs/" + id + "/status.json"));
    assertThat(info(id)).isEqualTo(fleet.json("jobs/" + id + "/job_info.json"));
    assertThat(fleet.json("job_track.json").path(id).path("status").asString())
        .isEqualTo("finished");
    JsonNode listed = fleet.caller().get("/jobs").json();
    assertThat(listed.get(0).path("job_id").asString()).isEqualTo(id);
    assertThat(listed.get(0).path("job_info")).isEqualTo(info(id));
    assertThat(tenant.invariants().check()).isEmpty();
  }

  private JsonNode info(String id) {
    return fleet.caller().get("/job-info/" + id).json();
  }

  @Covers({"C5", "C15"})
  @Test
  void a_stop_means_what_the_state_makes_of_it() {
    String queued = fleet.submit();
    assertThat(message("/stop/" + queued)).isEqualTo("Job canceled from queue");
    assertThat(fleet.status(queued)).isEqualTo("canceled");
    assertThat(fleet.file("queue/" + queued + ".json")).doesNotExist();

    fleet.submit();
    String running = fleet.running("a");
    assertThat(message("/stop/" + running)).startsWith("Stop requested; ");
    assertThat(message("/stop/" + running)).isEqualTo("Stop already requested");
    JsonNode status = fleet.json("jobs/" + running + "/status.json");
    assertThat(status.path("status").asString()).isEqualTo("stop_requested");
    assertThat(status.path("stop_requested").asBoolean()).isTrue();
    assertThat(fleet.report("a", running, "running").status()).isEqualTo(409);
    assertThat(fleet.report("a", running, "stopped").status()).isEqualTo(200);
    assertThat(fleet.status(running)).isEqualTo("stopped");
    assertThat(message("/stop/" + running)).isEqualTo("Job already finished (stopped)");

    fleet.submit();
    String dispatched = fleet.take("a");
    assertThat(message("/stop/" + dispatched)).startsWith("Stop requested; ");
    assertThat(fleet.status(dispatched)).isEqualTo("stop_requested");
    assertThat(fleet.report("a", dispatched, "failed").status()).isEqualTo(200);
    assertThat(message("/stop/" + dispatched)).isEqualTo("Job already finished (failed)");
  }

  private String message(String path) {
    return fleet.caller().post(path, "").json().path("message").asString();
  }

  @Covers({"C4", "C6", "C7"})
  @Test
  void an_agents_report_is_taken_repeated_or_refused_as_the_table_says() {
    Map<String, Set<String>> moves = new LinkedHashMap<>();
    moves.put("dispatched", Set.of("running", "failed", "canceled", "stop_requested", "queued"));
    moves.put("running", Set.of("finished", "failed", "stop_requested", "stopped", "canceled"));
    moves.put("stop_requested", Set.of("stopped", "failed", "canceled"));
    moves.put("queued", Set.of()); // nobody has it, so nobody may speak for it
    moves.put("finished", Set.of());
    moves.put("failed", Set.of());
    moves.put("stopped", Set.of());
    moves.put("canceled", Set.of());
    List<String> all = new ArrayList<>(moves.keySet());
    all.add("launching");
    List<String> wrong = new ArrayList<>();
    moves.forEach((from, allowed) -> {
      for (String to : all) {
        String id = inStatus(from);
        int answer = fleet.report("a", id, to).status();
        boolean taken = allowed.contains(to) || to.equals(from);
        if (answer != (taken ? 200 : 409)
            || !fleet.status(id).equals(taken ? to : from)
            || (taken && fleet.report("a", id, to).status() != 200)) {
          wrong.add(from + " → " + to + ": " + answer);
        }
        fleet.caller().post("/ops/jobs/" + id + "/cancel", "{\"force\": true}");
      }
    });

    assertThat(wrong).isEmpty();
    assertThat(tenant.invariants().check()).isEmpty();
  }

  @Covers("C6")
  @Test
  void only_who_has_the_lease_is_heard_and_a_late_report_changes_nothing() {
    fleet.submit();
    String id = fleet.running("a");

    assertThat(fleet.report("b", id, "finished").status()).isEqualTo(409);
    assertThat(fleet.report("b", id, "running").status()).isEqualTo(409);
    Reply forced = fleet.caller().post("/ops/jobs/" + id + "/requeue", "{\"force\": true}");
    assertThat(forced.status()).isEqualTo(200);
    assertThat(fleet.take("b")).isEqualTo(id);
    String before = fleet.json("jobs/" + id + "/status.json").toString();

    Reply late = fleet.report("a", id, "finished", Json.object().put("exit_code", 0));

    assertThat(late.status()).isEqualTo(409);
    assertThat(late.json().path("status").asString()).isEqualTo("dispatched");
    assertThat(fleet.json("jobs/" + id + "/status.json")).hasToString(before);
    assertThat(info(id).has("exit_code")).isFalse();
    // Without a name it counts as the owner's.
    Reply nameless =
        fleet
            .caller()
            .post("/api/agent/job-status", "{\"job_id\": \"" + id + "\", \"status\": \"running\"}");
    assertThat(nameless.status()).isEqualTo(200);
    assertThat(fleet.status(id)).isEqualTo("running");
  }

  @Covers("C17")
  @Test
  void an_agent_gets_as_many_jobs_as_it_asks_for() {
    List<String> submitted = Stream.generate(fleet::submit).limit(3).toList();

    assertThat(Stream.generate(() -> fleet.running("a")).limit(3))
        .containsExactlyElementsOf(submitted);
    assertThat(fleet.next("a").status()).isEqualTo(204);
  }

  @Covers("C8")
  @Test
  void progress_and_result_are_what_the_container_wrote_or_that_it_did_not() throws IOException {
    String id = fleet.submit();
    assertThat(fleet.caller().get("/progress/" + id).text())
        .isEqualTo("{\"progress\":\"No updates yet.\"}");
    assertThat(fleet.caller().get("/result/" + id).json().path("status").asString())
        .isEqualTo("pending");
    Files.createDirectories(fleet.file("jobs/" + id + "/progress"));
    Files.writeString(fleet.file("jobs/" + id + "/progress/progress.json"), "{\"epoch\": 3");
    assertThat(fleet.caller().get("/progress/" + id).text()).contains("No updates yet.");
    Files.writeString(fleet.file("jobs/" + id + "/progress/progress.json"), "{\"epoch\": 3}");
    assertThat(fleet.caller().get("/progress/" + id).json().path("epoch").asInt()).isEqualTo(3);
  }

  @Covers("C8")
  @ParameterizedTest
  @ValueSource(
      strings = {
        "{}",
        "{\"config\": {}, \"config_path\": \"a.yaml\"}",
        "{\"config\": 1}",
        "{\"config_path\": \"../a.yaml\"}",
        "{\"config_path\": \"/etc/passwd\"}",
        "{\"config_path\": \"a b.yaml\"}",
        "{\"config\": {}, \"save_as\": \"../../a.yaml\"}",
        "{\"config_path\": \"a.yaml\", \"target_host\": \"../x\"}",
        "{\"config_path\": \"a.yaml\", \"image\": \"a b\"}",
        "{\"config_path\": \"a.yaml\", \"env\": {\"A-B\": \"c\"}}",
        "{\"config_path\": 7}",
        "[]",
        "{",
        "nonsense"
      })
  void what_cannot_be_run_is_refused_and_nothing_is_left_of_it(String json) {
    Reply reply = fleet.caller().post("/run-simulation", json);

    assertThat(reply.status()).as(reply.text()).isEqualTo(400);
    assertThat(reply.json().path("detail").asString()).isNotEmpty();
    assertThat(fleet.caller().get("/jobs").text()).isEqualTo("[]");
    assertThat(fleet.file("configs").toFile().list()).isNullOrEmpty();
  }

  @Covers("C9")
  @Test
  void bad_words_of_agents_are_refused_by_name() {
    String id = fleet.submit();
    Map<String, Integer> answers = new LinkedHashMap<>();
    answers.put("{\"job_id\": \"" + id + "\", \"status\": \"dancing\", \"worker_id\": \"a\"}", 400);
    answers.put("{\"job_id\": \"" + id + "\", \"status\": \"unknown\", \"worker_id\": \"a\"}", 400);
    answers.put("{\"job_id\": \"" + id + "\", \"worker_id\": \"a\"}", 400);
    answers.put("{\"status\": \"running\", \"worker_id\": \"a\"}", 400);
    answers.put("{\"job_id\": 5, \"status\": \"running\"}", 400);
    answers.put(
        "{\"job_id\": \"" + id + "\", \"status\": \"running\", \"worker_id\": \"a/b\"}", 400);
    answers.put("{\"job_id\": \"" + id + "\", \"status\": \"running\", \"exit_code\": \"x\"}", 400);
    answers.put("{\"job_id\": \"../" + id + "\", \"status\": \"running\"}", 404);
    answers.put("{\"job_id\": \"" + UUID.randomUUID() + "\", \"status\": \"running\"}", 404);
    answers.put("{\"job_id\": \"" + id + "\", \"status\": \"running\", \"worker_id\": \"a\"}", 409);
    answers.put("{\"job_id\": \"" + id + "\", \"status\": \"running\"}", 409);
    answers.put("{", 400);

    answers.forEach((said, expected) -> {
      Reply reply = fleet.caller().post("/api/agent/job-status", said);
      assertThat(reply.status()).as(said).isEqualTo(expected);
      assertThat(reply.json().path("detail").asString()).as(said).isNotEmpty();
      assertThat(reply.json().path("status").asString().equals("not_found"))
          .isEqualTo(expected == 404);
    });
    for (String body : List.of("{}", "{\"worker_id\": 1}", "{\"worker_id\": \"..\"}", "{")) {
      assertThat(fleet.caller().post("/api/agent/next-job", body).status()).isEqualTo(400);
      assertThat(fleet.caller().post("/api/agent/heartbeat", body).status()).isEqualTo(400);
    }
    for (String path : List.of("/status/", "/job-info/", "/logs/", "/progress/", "/result/")) {
      for (String bad : List.of("x", "..%2F..%2Fetc", UUID.randomUUID().toString())) {
        Reply reply = fleet.caller().get(path + bad);
        assertThat(reply.status()).as(path + bad).isIn(400, 404);
        assertThat(reply.json().has("detail")).isTrue();
      }
    }
    assertThat(fleet.status(id)).isEqualTo("queued");
  }

  @Covers("C1")
  @Test
  void the_server_gives_work_away_and_does_none_of_it() {
    String id = fleet.submit();

    fleet.reap();
    tenant.advance(Duration.ofDays(1));
    fleet.reap();

    assertThat(fleet.status(id)).isEqualTo("queued");
    assertThat(
            tenant.holdfast().acts(tenant.name()).cancel(UUID.fromString(id), Act.by("x")).state())
        .isNotNull();
    assertThat(fleet.status(id)).isEqualTo("canceled");
  }
}
