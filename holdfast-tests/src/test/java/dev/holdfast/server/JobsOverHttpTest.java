package dev.holdfast.server;

import static org.assertj.core.api.Assertions.assertThat;

import dev.holdfast.job.JobState;
import dev.holdfast.server.Caller.Reply;
import dev.holdfast.server.auth.Role;
import dev.holdfast.testkit.Covers;
import dev.holdfast.testkit.TestTenant;
import java.util.List;
import java.util.Locale;
import java.util.UUID;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import tools.jackson.databind.JsonNode;

/** Enqueueing, looking and acting, as a client sees it that knows the contract alone. */
class JobsOverHttpTest {

  private static final String JOBS = "/api/v1/jobs";

  @RegisterExtension final TestTenant tenant = new TestTenant();

  private Caller admin;

  @BeforeEach
  void connect() {
    admin = TestServer.shared().as(Role.ADMIN, tenant.name());
  }

  @Test
  void a_job_has_every_field_of_the_contract() {
    Reply made =
        admin.post(
            JOBS,
            """
            {"kind": "deploy", "queue": "web", "args": {"n": 1.50}, "priority": 3, "target": "t",
             "resources": ["site:1", "node:7"], "max_attempts": 5, "tags": ["a"],
             "retry": {"type": "exponential", "base_seconds": 2}, "timeout_seconds": null}
            """);

    assertThat(made.status()).isEqualTo(201);
    JsonNode job = made.json();
    assertThat(job.propertyNames())
        .contains(
            "id",
            "kind",
            "queue",
            "state",
            "args",
            "priority",
            "run_at",
            "target",
            "resources",
            "attempt",
            "max_attempts",
            "cancel_requested",
            "lease",
            "progress",
            "result",
            "done_reason",
            "error_code",
            "error_message",
            "created_at",
            "started_at",
            "finished_at",
            "tags",
            "waiting_on");
    assertThat(job.path("state").asString()).isEqualTo("queued");
    assertThat(job.path("max_attempts").asInt()).isEqualTo(5);
    assertThat(job.path("args").toString()).isEqualTo("{\"n\":1.50}");
    assertThat(job.path("resources").toString()).isEqualTo("[\"node:7\",\"site:1\",\"target:t\"]");
    assertThat(job.path("progress").propertyNames())
        .containsExactlyInAnyOrder(
            "cursor", "progress_count", "result_count", "percent", "message", "at");
    assertThat(admin.get(JOBS + "/" + job.path("id").asString()).json()).isEqualTo(job);
  }

  @Test
  void the_same_id_or_a_live_unique_key_again_answers_the_job_that_is_there() {
    UUID id = UUID.randomUUID();
    String withId = "{\"id\": \"%s\", \"kind\": \"deploy\"}".formatted(id);
    String withKey = "{\"kind\": \"deploy\", \"unique_key\": \"k\"}";

    assertThat(admin.post(JOBS, withId).status()).isEqualTo(201);
    assertThat(admin.post(JOBS, withId).status()).isEqualTo(200);
    Reply first = admin.post(JOBS, withKey);
    Reply second = admin.post(JOBS, withKey);

    assertThat(first.status()).isEqualTo(201);
    assertThat(second.status()).isEqualTo(200);
    assertThat(second.json().path("id")).isEqualTo(first.json().path("id"));
    assertThat(admin.get(JOBS).json().path("jobs").size()).isEqualTo(2);
  }

  @Test
  void a_batch_is_stored_whole_or_not_at_all() {
    Reply good = admin.post(JOBS + "/batch", "{\"jobs\": [{\"kind\": \"a\"}, {\"kind\": \"b\"}]}");
    Reply bad = admin.post(JOBS + "/batch", "{\"jobs\": [{\"kind\": \"c\"}, {\"kind\": \"\"}]}");

    assertThat(good.status()).isEqualTo(201);
    assertThat(good.json().path("jobs").size()).isEqualTo(2);
    assertThat(bad.status()).isEqualTo(400);
    assertThat(bad.json().path("detail").asString()).contains("kind");
    assertThat(admin.get(JOBS).json().path("jobs").size()).isEqualTo(2);
  }

  @Test
  void a_list_comes_in_pages_and_only_what_was_asked_for() {
    for (int i = 0; i < 5; i++) {
      admin.post(JOBS, "{\"kind\": \"k%d\", \"queue\": \"q\", \"tags\": [\"t\"]}".formatted(i));
    }
    admin.post(JOBS, "{\"kind\": \"other\"}");

    JsonNode first = admin.get(JOBS + "?queue=q&tag=t&state=queued&limit=3").json();
    JsonNode second =
        admin.get(JOBS + "?queue=q&tag=t&limit=3&after=" + first.path("after").asString()).json();

    assertThat(first.path("jobs").size()).isEqualTo(3);
    assertThat(first.path("jobs").get(0).path("kind").asString()).isEqualTo("k4");
    assertThat(second.path("jobs").size()).isEqualTo(2);
    assertThat(second.path("after").isNull()).isTrue();
    assertThat(admin.get(JOBS + "?kind=other").json().path("jobs").size()).isEqualTo(1);
    assertThat(admin.get(JOBS + "?state=asleep").status()).isEqualTo(400);
    assertThat(admin.get(JOBS + "?limit=0").code()).isEqualTo("INVALID_ARGUMENT");
  }

  @Test
  void jobs_are_found_by_their_error_code_and_by_part_of_the_message() {
    String failed =
        admin.post(JOBS, "{\"kind\": \"k\", \"pending\": true}").json().path("id").asString();
    admin.post(JOBS, "{\"kind\": \"other\"}");
    admin.post(JOBS + "/" + failed + "/fail", "{\"reason\": \"no disk\"}");
    String code = admin.get(JOBS + "/" + failed).json().path("error_code").asString();

    for (String error : List.of(code.toLowerCase(Locale.ROOT), "No%20DISK")) {
      JsonNode found = admin.get(JOBS + "?error=" + error).json().path("jobs");
      assertThat(found.findValuesAsString("id")).as(error).containsExactly(failed);
    }
  }

  @Covers("A14")
  @Test
  void only_an_admin_cancels() {
    String id = enqueue("{\"kind\": \"deploy\"}");
    Caller operator = TestServer.shared().as(Role.OPERATOR, tenant.name());

    assertThat(operator.post(JOBS + "/" + id + "/cancel", "{}").status()).isEqualTo(403);
    assertThat(operator.post(JOBS + "/" + id + "/stop", "{}").status()).isEqualTo(403);
    assertThat(
            operator.post(JOBS + "/actions", "{\"action\": \"cancel\", \"filter\": {}}").status())
        .isEqualTo(403);
    assertThat(tenant.job(UUID.fromString(id)).state()).isEqualTo(JobState.QUEUED);
    Reply done = admin.post(JOBS + "/" + id + "/cancel", "{\"reason\": \"not needed\"}");

    assertThat(done.status()).isEqualTo(200);
    assertThat(done.json().path("state").asString()).isEqualTo("cancelled");
    assertThat(admin.get("/api/v1/audit").json().path("audit").get(0).path("reason").asString())
        .isEqualTo("not needed");
  }

  @Test
  void an_act_that_the_state_does_not_allow_is_a_conflict_that_names_the_state() {
    String id = enqueue("{\"kind\": \"deploy\"}");

    Reply refused = admin.post(JOBS + "/" + id + "/resume", "{}");

    assertThat(refused.status()).isEqualTo(409);
    assertThat(refused.contentType()).contains("application/problem+json");
    assertThat(refused.json().path("state").asString()).isEqualTo("queued");
    assertThat(refused.code()).isEqualTo("STATE_CONFLICT");
    assertThat(admin.post(JOBS + "/" + UUID.randomUUID() + "/cancel", "{}").status())
        .isEqualTo(404);
  }

  @Test
  void acts_on_many_say_first_what_they_would_do() {
    enqueue("{\"kind\": \"deploy\"}");
    String paused = enqueue("{\"kind\": \"deploy\"}");
    admin.post(JOBS + "/" + paused + "/pause", "");
    String body = "{\"action\": \"pause\", \"filter\": {\"kind\": \"deploy\"}, \"dry_run\": %s}";

    JsonNode preview = admin.post(JOBS + "/actions", body.formatted("true")).json();
    JsonNode done = admin.post(JOBS + "/actions", body.formatted("false")).json();

    assertThat(preview.path("matched").asInt()).isEqualTo(2);
    assertThat(preview.path("results").toString()).contains("would").contains("refused");
    assertThat(done.path("results").toString()).contains("\"done\"").contains("refused");
    assertThat(admin.get(JOBS + "?state=paused").json().path("jobs").size()).isEqualTo(2);
  }

  @Test
  void what_is_wrong_for_all_is_refused_once() {
    String id = enqueue("{\"kind\": \"deploy\"}");
    admin.post(JOBS + "/" + id + "/pause", "");

    Reply refused =
        admin.post(
            JOBS + "/actions",
            "{\"action\": \"resolve\", \"filter\": {}, \"result\": \"%s\"}"
                .formatted("x".repeat(300_000)));

    assertThat(refused.status()).isEqualTo(400);
    assertThat(refused.json().path("detail").asString()).startsWith("result");
    assertThat(admin.get(JOBS + "?state=paused").json().path("jobs").size()).isEqualTo(1);
  }

  @Test
  void a_waiting_job_says_why_and_can_be_changed_and_a_finished_one_removed() {
    String id = enqueue("{\"kind\": \"deploy\", \"delay_seconds\": 3600}");

    JsonNode why = admin.get(JOBS + "/" + id + "/why").json();
    Reply changed =
        admin.send(
            "PATCH",
            JOBS + "/" + id,
            java.util.Optional.of("{\"priority\": -5, \"tags\": [\"x\"]}"));
    Reply tooEarly = admin.send("DELETE", JOBS + "/" + id, java.util.Optional.empty());
    admin.post(JOBS + "/" + id + "/cancel", "{}");
    Reply removed = admin.send("DELETE", JOBS + "/" + id, java.util.Optional.empty());

    assertThat(why.path("reason").asString()).isEqualTo("not_due");
    assertThat(changed.json().path("priority").asInt()).isEqualTo(-5);
    assertThat(tooEarly.status()).isEqualTo(409);
    assertThat(removed.status()).isEqualTo(200);
    assertThat(admin.get(JOBS + "/" + id).status()).isEqualTo(404);
  }

  @Covers("A4")
  @Test
  void a_job_of_a_node_targeted_kind_is_refused_without_a_node() {
    Caller system = TestServer.shared().as(Role.SYSTEM, tenant.name());
    system.put(
        "/api/v1/kinds/env_deploy", "{\"node_targeted\": true, \"subject_during\": \"deploying\"}");

    Reply refused = admin.post(JOBS, "{\"kind\": \"env_deploy\", \"site_id\": \"4\"}");
    Reply taken =
        admin.post(
            JOBS,
            """
            {"kind": "env_deploy", "site_id": "4", "environment_id": "9", "node_id": "7"}
            """);

    assertThat(refused.status()).isEqualTo(400);
    assertThat(refused.json().path("detail").asString()).contains("node_id");
    assertThat(taken.status()).isEqualTo(201);
    assertThat(taken.json().path("resources").toString()).isEqualTo("[\"node:7\",\"site:4\"]");
    assertThat(taken.json().path("subject").path("type").asString()).isEqualTo("environment");
    assertThat(admin.get(JOBS).json().path("jobs").size()).isEqualTo(1);
  }

  @Covers("A13")
  @ParameterizedTest
  @CsvSource({
    "env_create, cloning",
    "site_create, cloning",
    "site_import, cloning",
    "env_deploy, deploying",
    "env_update, deploying",
    "env_promote, deploying",
    "release_rollback, deploying",
    "env_restore, restoring",
    "health_check, ''"
  })
  void kinds_of_the_control_plane_move_their_site_without_being_registered(
      String kind, String during) {
    Reply taken = admin.post(JOBS, "{\"kind\": \"%s\", \"site_id\": \"4\"}".formatted(kind));

    assertThat(taken.status()).isEqualTo(201);
    assertThat(taken.json().path("subject").path("during").asString("")).isEqualTo(during);
  }

  @Test
  void arguments_are_not_for_those_who_only_look() {
    String id = enqueue("{\"kind\": \"deploy\", \"args\": {\"password\": \"s3cret\"}}");

    Reply seen = TestServer.shared().as(Role.VIEWER, tenant.name()).get(JOBS + "/" + id);

    assertThat(seen.status()).isEqualTo(200);
    assertThat(seen.text()).doesNotContain("s3cret");
  }

  @Test
  void a_command_of_ones_own_is_for_admins() {
    String body = "{\"kind\": \"process\", \"args\": {\"argv\": [\"id\"]}}";

    assertThat(TestServer.shared().as(Role.OPERATOR, tenant.name()).post(JOBS, body).status())
        .isEqualTo(403);
    assertThat(admin.post(JOBS, body).status()).isEqualTo(201);
  }

  private String enqueue(String json) {
    return admin.post(JOBS, json).json().path("id").asString();
  }
}
