package dev.holdfast.server;

import static org.assertj.core.api.Assertions.assertThat;

import dev.holdfast.audit.Act;
import dev.holdfast.job.JobState;
import dev.holdfast.job.NewJob;
import dev.holdfast.job.Outcome;
import dev.holdfast.job.Payload;
import dev.holdfast.server.Caller.Reply;
import dev.holdfast.server.auth.Role;
import dev.holdfast.testkit.Covers;
import dev.holdfast.testkit.TestTenant;
import dev.holdfast.worker.Worker;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import java.util.UUID;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import tools.jackson.databind.JsonNode;

/** Targets, as a client finds them that was written by their document and by nothing else. */
class TargetsDialectTest extends TargetsRig {

  @RegisterExtension final TestTenant other = new TestTenant();

  @Covers("B1")
  @Test
  void a_job_is_queued_run_and_done_and_says_so_in_the_documents_words() {
    JsonNode queued = enqueue("book", "{\"guests\": 2}");
    String id = queued.path("id").asString();
    Worker worker =
        worker()
            .handleWithOutcome(
                BOOK,
                (parameters, job) -> {
                  job.usage(120, 30);
                  return Outcome.succeeded(new Payload("{\"table\": 7}"));
                })
            .build();

    worker.runDue();

    assertThat(queued.path("status").asString()).isEqualTo("queued");
    assertThat(queued.propertyNames())
        .containsExactly(
            "id",
            "target_id",
            "api_name",
            "parameters",
            "status",
            "result",
            "error",
            "created_at",
            "updated_at",
            "completed_at",
            "total_input_tokens",
            "total_output_tokens",
            "duration_seconds");
    JsonNode done = job(id);
    assertThat(done.path("target_id").asString()).isEqualTo(target);
    assertThat(done.path("api_name").asString()).isEqualTo("book");
    assertThat(done.path("parameters").path("guests").asInt()).isEqualTo(2);
    assertThat(done.path("status").asString()).isEqualTo("success");
    assertThat(done.path("result").path("table").asInt()).isEqualTo(7);
    assertThat(done.path("error").isNull()).isTrue();
    assertThat(done.path("completed_at").isString()).isTrue();
    assertThat(done.path("duration_seconds").isNumber()).isTrue();
    assertThat(done.path("total_input_tokens").asInt()).isEqualTo(120);
    assertThat(done.path("total_output_tokens").asInt()).isEqualTo(30);
    assertThat(queued.path("completed_at").isNull()).isTrue();
    assertThat(queued.path("duration_seconds").isNull()).isTrue();
  }

  @Covers("B1")
  @Test
  void every_state_has_its_name_in_the_view_and_in_lower_case_on_the_wire() {
    Map<JobState, String> names =
        Map.of(
            JobState.PENDING, "PENDING",
            JobState.QUEUED, "QUEUED",
            JobState.DISPATCHED, "RUNNING",
            JobState.RUNNING, "RUNNING",
            JobState.STOPPING, "RUNNING",
            JobState.PAUSED, "PAUSED",
            JobState.SUCCEEDED, "SUCCESS",
            JobState.FAILED, "ERROR",
            JobState.CANCELLED, "CANCELED");
    assertThat(names).hasSize(JobState.values().length);

    names.forEach((state, name) -> {
      String id = inState(state);

      assertThat(view(id)).containsEntry("status", name);
      assertThat(view(id)).containsEntry("cancel_requested", state == JobState.STOPPING);
      assertThat(view(id).get("lease_owner")).isEqualTo(state.isLeased() ? "w" : null);
      assertThat(view(id).get("lease_expires_at") != null).isEqualTo(state.isLeased());
      assertThat(job(id).path("status").asString()).isEqualTo(name.toLowerCase(Locale.ROOT));
      assertThat(client().get("/jobs/?status=" + name.toLowerCase(Locale.ROOT)).text())
          .contains(id);
      clear();
    });
  }

  @Test
  void what_a_state_does_not_allow_is_refused_with_400_and_changes_nothing() {
    Map<String, Set<JobState>> allowed =
        Map.of(
            "interrupt",
            Set.of(
                JobState.PENDING,
                JobState.QUEUED,
                JobState.DISPATCHED,
                JobState.RUNNING,
                JobState.STOPPING),
            "cancel",
            Set.of(JobState.PENDING, JobState.QUEUED),
            "resume",
            Set.of(JobState.PAUSED, JobState.FAILED),
            "resolve",
            Set.of(JobState.PAUSED, JobState.FAILED));
    allowed.forEach((act, states) -> {
      for (JobState state : JobState.values()) {
        String id = inState(state);
        Map<String, Object> before = view(id);

        Reply reply = client().post(path(id) + act + "/");

        assertThat(reply.status())
            .as(act + " " + state)
            .isEqualTo(states.contains(state) ? 200 : 400);
        if (!states.contains(state)) {
          assertThat(reply.json().path("detail").asString()).contains(act, id);
          assertThat(reply.json().propertyNames()).containsExactly("detail");
          assertThat(view(id)).isEqualTo(before);
        }
        clear();
      }
    });
  }

  @Test
  void lists_are_newest_first_in_pages_and_counted() {
    String elsewhere = UUID.randomUUID().toString();
    List<String> ids =
        List.of(
            enqueue("book", "{}").path("id").asString(),
            enqueue("call", "{}").path("id").asString(),
            enqueue("book", "{}").path("id").asString());
    String foreign =
        client()
            .post("/targets/" + elsewhere + "/jobs/", "{\"api_name\": \"book\"}")
            .json()
            .path("id")
            .asString();
    tenant.jobs().enqueue(NewJob.of("book", 1)); // of no target

    JsonNode all = client().get("/jobs/").json();
    JsonNode second = client().get("/jobs/?limit=2&offset=1").json();
    JsonNode books = client().get("/jobs/?api_name=book&target_id=" + target).json();
    JsonNode ofTarget = client().get("/targets/" + target + "/jobs/?limit=2").json();

    assertThat(all.path("total_count").asInt()).isEqualTo(4);
    assertThat(ids(all.path("jobs")))
        .containsExactly(foreign, ids.get(2), ids.get(1), ids.getFirst());
    assertThat(second.path("total_count").asInt()).isEqualTo(4);
    assertThat(ids(second.path("jobs"))).containsExactly(ids.get(2), ids.get(1));
    assertThat(ids(books.path("jobs"))).containsExactly(ids.get(2), ids.getFirst());
    assertThat(books.path("total_count").asInt()).isEqualTo(2);
    assertThat(ofTarget.isArray()).isTrue();
    assertThat(ids(ofTarget)).containsExactly(ids.get(2), ids.get(1));
    assertThat(client().get("/jobs/?offset=100").json().path("jobs").isEmpty()).isTrue();
    assertThat(client().get("/jobs/?status=paused").json().path("total_count").asInt()).isZero();
  }

  @Test
  void what_a_job_logged_is_a_list_of_entries() {
    String id = enqueue("book", "{}").path("id").asString();
    worker()
        .handle(
            BOOK,
            (parameters, job) -> {
              job.log("asking");
              job.log("answered");
            })
        .build()
        .runDue();

    JsonNode log = client().get(path(id) + "logs/").json();

    assertThat(log).hasSize(2);
    assertThat(log.get(0).propertyNames())
        .containsExactly("id", "job_id", "timestamp", "log_type", "content");
    assertThat(log.get(0).path("job_id").asString()).isEqualTo(id);
    assertThat(log.get(0).path("content").asString()).isEqualTo("asking");
    assertThat(log.get(1).path("content").asString()).isEqualTo("answered");
    assertThat(log.get(0).path("id").asLong()).isLessThan(log.get(1).path("id").asLong());
  }

  @Covers("B2")
  @Test
  void one_worker_serves_every_tenants_targets_and_none_sees_anothers() {
    String kind = "served_" + tenant.name().value();
    String mine = enqueue(client(), kind, "{}").path("id").asString();
    PlainHttp neighbour = PlainHttp.at(TestServer.open().addressOf(other.name()));
    String theirs = enqueue(neighbour, kind, "{}").path("id").asString();

    tenant
        .holdfast()
        .workerForAllTenants()
        .configure(config -> config.withQueues("targets"))
        .handleWithOutcome(
            kind(kind),
            (parameters, job) -> Outcome.succeeded(new Payload("{\"fence\": " + job.fence() + "}")))
        .build()
        .runDue();

    assertThat(job(mine).path("status").asString()).isEqualTo("success");
    assertThat(neighbour.get(path(theirs)).json().path("status").asString()).isEqualTo("success");
    assertThat(client().get(path(theirs)).status()).isEqualTo(404);
    assertThat(neighbour.get("/jobs/").text()).contains(theirs).doesNotContain(mine);
  }

  @Test
  void another_queue_is_named_in_the_query_and_has_the_same_rules() {
    String id =
        client()
            .post("/targets/" + target + "/jobs/?queue=vip", "{\"api_name\": \"book\"}")
            .json()
            .path("id")
            .asString();
    client().post(path(id) + "interrupt/");

    assertThat(job(id).path("status").asString()).isEqualTo("error");
    assertThat(client().get("/jobs/").text()).doesNotContain(id);
    assertThat(client().get("/jobs/?queue=vip").text()).contains(id);
    enqueue("book", "{}");
    assertThat(claim()).as("a target is one, whatever the queue").isEmpty();
  }

  @Test
  void bad_input_is_refused_with_a_sentence_and_nothing_is_stored() {
    String jobs = "/targets/" + target + "/jobs/";
    Map<String, Integer> answers =
        Map.ofEntries(
            Map.entry("", 400),
            Map.entry("{", 400),
            Map.entry("[]", 400),
            Map.entry("{}", 400),
            Map.entry("{\"api_name\": 7}", 400),
            Map.entry("{\"api_name\": \"\"}", 400),
            Map.entry("{\"api_name\": \"" + "x".repeat(201) + "\"}", 400),
            Map.entry("{\"api_name\": \"holdfast.webhook\"}", 400),
            Map.entry("{\"api_name\": \"a\", \"parameters\": []}", 400),
            Map.entry(
                "{\"api_name\": \"a\", \"parameters\": {\"a\": \"%s\"}}"
                    .formatted("x".repeat(300_000)),
                400));
    answers.forEach((body, status) -> {
      Reply reply = client().post(jobs, body);
      assertThat(reply.status()).as(body).isEqualTo(status);
      assertThat(reply.contentType()).startsWith("application/json");
      assertThat(reply.json().propertyNames()).containsExactly("detail");
    });
    String nobody = UUID.randomUUID().toString();
    assertThat(client().get(jobs + nobody).status()).isEqualTo(404);
    assertThat(client().post(jobs + nobody + "/resume/").status()).isEqualTo(404);
    assertThat(client().get(jobs + nobody + "/logs/").status()).isEqualTo(404);
    assertThat(client().post("/targets/crm/jobs/", "{\"api_name\": \"a\"}").status())
        .isEqualTo(400);
    assertThat(client().get(jobs + "1").status()).isEqualTo(400);
    for (String query :
        List.of("limit=0", "limit=x", "limit=1001", "offset=-1", "status=x", "target_id=1")) {
      assertThat(client().get("/jobs/?" + query).status()).as(query).isEqualTo(400);
    }
    assertThat(tenant.query("SELECT id FROM {schema}.job_all")).isEmpty();
  }

  @Test
  void a_submitter_cannot_run_a_command_of_its_own_under_the_name_of_an_api() {
    Caller submitter = TestServer.shared().as(Role.SUBMITTER, tenant.name());
    String command = "{\"api_name\": \"process\", \"parameters\": {\"argv\": [\"id\"]}}";

    assertThat(submitter.post("/targets/" + target + "/jobs/", command).status()).isEqualTo(403);
    assertThat(tenant.query("SELECT id FROM {schema}.job_all")).isEmpty();
    assertThat(
            TestServer.shared()
                .as(Role.VIEWER, tenant.name())
                .get(
                    "/targets/"
                        + target
                        + "/jobs/"
                        + enqueue("book", "{\"a\": \"shh\"}").path("id").asString())
                .text())
        .doesNotContain("shh");
  }

  @Test
  void unknown_fields_and_queries_are_no_concern_of_ours() {
    assertThat(
            client()
                .post(
                    "/targets/" + target + "/jobs/?trace=1",
                    "{\"api_name\": \"a\", \"client\": {\"version\": 3}}")
                .status())
        .isEqualTo(200);
  }

  private static List<String> ids(JsonNode jobs) {
    return jobs.valueStream().map(job -> job.path("id").asString()).toList();
  }

  /** A job that has come to this state by the ways there are. */
  private String inState(JobState state) {
    if (state == JobState.PENDING) {
      return tenant
          .jobs()
          .enqueue(NewJob.of("book", Map.of()).withQueue("targets").withTarget(target).asPending())
          .id()
          .toString();
    }
    UUID id = UUID.fromString(enqueue("book", "{}").path("id").asString());
    Act ada = Act.by("ada");
    switch (state) {
      case PENDING, QUEUED -> {}
      case DISPATCHED -> leases().claim(request().acknowledging());
      case RUNNING -> claim();
      case STOPPING -> {
        claim();
        tenant.acts().stop(id, ada);
      }
      case PAUSED -> tenant.acts().pause(id, ada);
      case SUCCEEDED -> finish(claim().getFirst());
      case FAILED -> tenant.acts().fail(id, ada.withForce());
      case CANCELLED -> tenant.acts().cancel(id, ada);
    }
    assertThat(tenant.job(id).state()).isEqualTo(state);
    return id.toString();
  }

  /** As if there had been no job on the target. */
  private void clear() {
    for (String table : List.of("job", "job_done", "hold", "block")) {
      tenant.execute("DELETE FROM {schema}." + table);
    }
  }
}
