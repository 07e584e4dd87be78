package dev.holdfast.server;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.groups.Tuple.tuple;

import dev.holdfast.audit.AuditRecord;
import dev.holdfast.job.Failure;
import dev.holdfast.job.NewJob;
import dev.holdfast.job.Outcome;
import dev.holdfast.lease.Finish;
import dev.holdfast.lease.FinishReply;
import dev.holdfast.lease.Lease;
import dev.holdfast.server.Caller.Reply;
import dev.holdfast.server.auth.Role;
import dev.holdfast.testkit.Covers;
import dev.holdfast.worker.Worker;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.UUID;
import java.util.concurrent.CountDownLatch;
import org.junit.jupiter.api.Test;
import tools.jackson.databind.JsonNode;

/** What stands on a target, and by which words of the document it goes on. */
class BlockedTargetsTest extends TargetsRig {

  @Covers({"B7", "B10", "B12"})
  @Test
  void an_interrupted_job_pauses_its_target_until_it_is_resumed() throws Exception {
    CountDownLatch begun = new CountDownLatch(1);
    String id = enqueue("book", "{}").path("id").asString();
    String next = enqueue("book", "{}").path("id").asString();
    try (Worker worker =
        worker()
            .configure(config -> config.withHeartbeatInterval(Duration.ofMillis(50)))
            .handle(
                BOOK,
                (parameters, job) -> {
                  begun.countDown();
                  new CountDownLatch(1).await(); // until it is interrupted
                })
            .start()) {
      begun.await();
      Reply asked = client().post(path(id) + "interrupt/");
      assertThat(asked.status()).isEqualTo(200);
      assertThat(asked.json().path("status").asString()).isEqualTo("running");
      await(id, "paused");
    }

    assertThat(job(id).path("error").asString()).isEqualTo("Job was interrupted by user");
    assertThat(job(id).path("completed_at").isNull()).isTrue();
    assertThat(view(id)).containsEntry("cancel_requested", false);
    runDue(); // nothing may run
    assertThat(job(next).path("status").asString()).isEqualTo("queued");
    JsonNode why =
        TestServer.shared()
            .as(Role.VIEWER, tenant.name())
            .get("/api/v1/jobs/" + next + "/why")
            .json();
    assertThat(why.path("blocked_by").path("job_id").asString()).isEqualTo(id);

    Reply resumed = client().post(path(id) + "resume/");

    assertThat(resumed.status()).isEqualTo(200);
    assertThat(resumed.json().path("status").asString()).isEqualTo("queued");
    assertThat(resumed.json().path("error").isNull()).isTrue();
    assertThat(view(id)).containsEntry("error", null);
    assertThat(claim().getFirst().key().jobId()).hasToString(id); // at its old place
    assertThat(job(id).path("error").isNull()).isTrue();
    assertThat(view(id)).containsEntry("cancel_requested", false);
  }

  @Covers({"B10", "B12"})
  @Test
  void a_job_in_error_blocks_its_target_until_it_is_resolved_or_resumed() {
    String failed = enqueue("book", "{}").path("id").asString();
    String next = enqueue("book", "{}").path("id").asString();
    worker()
        .handle(
            BOOK,
            (parameters, job) -> {
              throw new IllegalStateException("no table");
            })
        .build()
        .runDue();

    assertThat(job(failed).path("status").asString()).isEqualTo("error");
    assertThat(job(failed).path("error").asString()).contains("no table");
    assertThat(job(next).path("status").asString()).isEqualTo("queued");

    Reply resolved = client().post(path(failed) + "resolve/", "{\"table\": 9}");

    assertThat(resolved.status()).isEqualTo(200);
    assertThat(resolved.json().path("status").asString()).isEqualTo("success");
    assertThat(resolved.json().path("result").path("table").asInt()).isEqualTo(9);
    assertThat(resolved.json().path("error").isNull()).isTrue();
    runDue();
    assertThat(job(next).path("status").asString()).isEqualTo("success");
  }

  @Covers("B12")
  @Test
  void a_waiting_job_that_is_interrupted_is_in_error_and_that_is_recorded() {
    String running = enqueue("book", "{}").path("id").asString();
    Lease lease = claim().getFirst();
    String id = enqueue("book", "{}").path("id").asString();
    String next = enqueue("book", "{}").path("id").asString();

    Reply interrupted = client().post(path(id) + "interrupt/");

    assertThat(interrupted.status()).isEqualTo(200);
    assertThat(interrupted.json().path("status").asString()).isEqualTo("error");
    assertThat(interrupted.json().path("error").asString())
        .isEqualTo("Job was interrupted by user");
    assertThat(tenant.audit().ofJob(UUID.fromString(id)))
        .extracting(AuditRecord::act, AuditRecord::before, AuditRecord::after)
        .contains(tuple("fail", Optional.of("queued"), Optional.of("failed")));
    finish(lease);
    assertThat(job(running).path("status").asString()).isEqualTo("success");
    assertThat(claim()).as("blocked by the one in error, behind the one that ran").isEmpty();
    client().post(path(id) + "resolve/");
    assertThat(claim()).extracting(each -> each.key().jobId().toString()).containsExactly(next);
  }

  @Covers("B8")
  @Test
  void over_the_token_limit_of_this_moment_a_job_ends_in_error_and_names_it() {
    Caller admin = TestServer.shared().as(Role.ADMIN, tenant.name());
    String id = enqueue("book", "{}").path("id").asString();
    admin.put("/api/v1/settings/TOKEN_LIMIT", "{\"value\": 100}");
    worker()
        .handle(
            BOOK,
            (parameters, job) -> {
              job.usage(90, 11);
              job.log("still talking");
            })
        .build()
        .runDue();

    assertThat(job(id).path("status").asString()).isEqualTo("error");
    assertThat(job(id).path("error").asString()).contains("token limit of 100");
    assertThat(view(id)).containsEntry("cancel_requested", false);
  }

  @Covers("B9")
  @Test
  void a_stale_workers_job_is_in_error_and_its_late_word_changes_nothing() {
    String id = enqueue("book", "{}").path("id").asString();
    Lease zombie = claim().getFirst();
    tenant.advance(Duration.ofSeconds(31));
    tenant.reap();

    FinishReply late = leases().finish(List.of(new Finish(zombie, Outcome.succeeded()))).getFirst();

    assertThat(late).isEqualTo(new FinishReply.Lost());
    assertThat(job(id).path("status").asString()).isEqualTo("error");
    assertThat(job(id).path("error").asString()).contains("stopped renewing its lease");
    assertThat(client().post(path(id) + "resume/").status()).isEqualTo(200);
    runDue();
    assertThat(job(id).path("status").asString()).isEqualTo("success");
    assertThat(tenant.invariants().check()).isEmpty();
  }

  @Covers("B13")
  @Test
  void a_job_amid_a_restart_is_paused_and_goes_on_when_it_is_resumed() throws Exception {
    ServerConfig config = TestServer.config().withAuth(false);
    CountDownLatch begun = new CountDownLatch(1);
    int port;
    String id;
    String late;
    try (TestServer first = TestServer.start(config)) {
      port = first.port();
      PlainHttp client = PlainHttp.at(first.addressOf(tenant.name()));
      id = enqueue(client, "book", "{}").path("id").asString();
      try (Worker worker =
          worker()
              .configure(each -> each.withDrainTimeout(Duration.ZERO))
              .handle(
                  BOOK,
                  (parameters, job) -> {
                    begun.countDown();
                    new CountDownLatch(1).await();
                  })
              .start()) {
        begun.await();
      }
      late = enqueue(client, "book", "{}").path("id").asString(); // while nobody claims
    }
    try (TestServer second = TestServer.start(config.withAddress("127.0.0.1", port))) {
      PlainHttp client = PlainHttp.at(second.addressOf(tenant.name()));
      JsonNode paused = client.get(path(id)).json();
      assertThat(paused.path("status").asString()).isEqualTo("paused");
      assertThat(paused.path("error").asString()).isEqualTo("Job was interrupted by user");
      assertThat(client.get(path(late)).json().path("status").asString()).isEqualTo("queued");
      client.post(path(id) + "resume/");
      runDue();
      assertThat(client.get(path(id)).json().path("status").asString()).isEqualTo("success");
      assertThat(client.get(path(late)).json().path("status").asString()).isEqualTo("success");
    }
    assertThat(tenant.invariants().check()).isEmpty();
  }

  @Covers("B12")
  @Test
  void the_time_for_which_a_job_waits_for_a_person_is_not_its_attempts() {
    tenant.stopClock();
    String id = enqueue("book", "{}").path("id").asString();
    Lease lease = claim().getFirst();
    tenant.advance(Duration.ofSeconds(5));
    leases().finish(List.of(new Finish(lease, Outcome.failed(Failure.permanent("E", "no")))));
    assertThat(job(id).path("duration_seconds").asDouble()).isEqualTo(5);
    tenant.advance(Duration.ofDays(2));

    assertThat(client().post(path(id) + "resolve/", "{}").status()).isEqualTo(200);

    assertThat(job(id).path("status").asString()).isEqualTo("success");
    assertThat(job(id).path("duration_seconds").asDouble()).isEqualTo(5);
  }

  @Test
  void jobs_with_random_ids_do_not_hide_those_on_targets() {
    String id = enqueue("book", "{}").path("id").asString();
    String random = "f0000000-0000-4000-8000-000000000000";
    tenant.jobs().enqueue(NewJob.of("book", 1).withId(UUID.fromString(random)).withTarget("t"));
    tenant.execute(
        """
        INSERT INTO {schema}.job (id, lane, args)
        SELECT gen_random_uuid(), lane, '1' FROM {schema}.job, generate_series(1, 20000)
         WHERE id = '%s'
        """
            .formatted(id));

    JsonNode all = client().get("/jobs/").json();

    assertThat(all.path("jobs").findValuesAsString("id")).contains(id);
    assertThat(all.path("total_count").asInt()).isGreaterThan(0);
  }

  private void await(String id, String status) {
    while (!job(id).path("status").asString().equals(status)) {
      Thread.onSpinWait();
    }
  }
}
