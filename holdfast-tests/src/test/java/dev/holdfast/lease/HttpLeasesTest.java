package dev.holdfast.lease;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.holdfast.api.HttpLeases;
import dev.holdfast.audit.Act;
import dev.holdfast.error.HoldfastException;
import dev.holdfast.job.Failure;
import dev.holdfast.job.Item;
import dev.holdfast.job.JobState;
import dev.holdfast.job.Needs;
import dev.holdfast.job.NewJob;
import dev.holdfast.job.Outcome;
import dev.holdfast.job.Payload;
import dev.holdfast.job.Policy;
import dev.holdfast.job.PolicyOverrides;
import dev.holdfast.job.Progress;
import dev.holdfast.job.RetryPolicy;
import dev.holdfast.job.SlotKey;
import dev.holdfast.job.Subject;
import dev.holdfast.job.TimeLimit;
import dev.holdfast.rig.Cable;
import dev.holdfast.schedule.Schedule;
import dev.holdfast.schedule.Trigger;
import dev.holdfast.server.TestServer;
import dev.holdfast.server.auth.Role;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import java.util.UUID;
import java.util.stream.IntStream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** The contract from a server, but for what needs a transaction of the database. */
class HttpLeasesTest extends LeaseSourceContract {

  private HttpLeases leases;

  @BeforeEach
  void connect() {
    leases = TestServer.shared().client(Role.WORKER, tenant.name()).leases();
  }

  @AfterEach
  void isSound() {
    assertThat(tenant.invariants().check()).isEmpty();
  }

  @Override
  LeaseSource leases() {
    return leases;
  }

  @Test
  void what_was_granted_to_a_claim_that_nobody_answered_comes_with_the_workers_next_one()
      throws Exception {
    UUID id = enqueue(NewJob.of("email", 1));
    try (Cable cable = new Cable(TestServer.shared().port())) {
      HttpLeases far = TestServer.shared().client(Role.WORKER, tenant.name(), cable.url()).leases();
      cable.lose(2); // the answer, and that to its repeat
      assertThatThrownBy(() -> far.claim(anyKind("worker", 1)))
          .isInstanceOf(HoldfastException.class);
      assertThat(cable.answersLost()).isEqualTo(2);
      assertThat(tenant.job(id).state()).isEqualTo(JobState.RUNNING);

      List<Lease> leases = far.claim(anyKind("worker", 1)).leases();

      assertThat(ids(leases)).containsExactly(id);
      assertThat(leases.getFirst().key().fence()).isEqualTo(tenant.job(id).fence());
      assertThat(far.claim(anyKind("worker", 1)).leases()).isEmpty();
    }
  }

  @Test
  void the_slot_of_a_scheduled_job_says_which_worker_has_it() {
    tenant.stopClock();
    tenant
        .schedules()
        .put(
            Schedule.of("nightly", Trigger.cron("* * * * *"), NewJob.of("email", 1)),
            Act.by("ada"));
    tenant.advance(Duration.ofMinutes(1));
    tenant.scheduler().runOnce();

    claimOne("worker");

    assertThat(tenant.query("SELECT worker_instance FROM {schema}.job_runs"))
        .containsExactly(Map.of("worker_instance", "worker"));
  }

  @Test
  void a_late_worker_that_says_its_work_is_over_frees_what_it_held_and_nobody_elses() {
    NewJob deploy =
        NewJob.of("email", 1)
            .withResources("site:1")
            .withPolicy(PolicyOverrides.NONE.withOnLeaseLost(Policy.OnLeaseLost.FAIL));
    enqueue(deploy);
    Lease lost = claimOne("worker");
    UUID waiting = enqueue(deploy);
    expireAndReap();
    assertThat(claim("other", 1)).as("the work may go on").isEmpty();

    assertThat(finish(lost, Outcome.succeeded())).isEqualTo(new FinishReply.Lost());
    assertThat(ids(claim("other", 1))).containsExactly(waiting);
    assertThat(finish(lost, Outcome.succeeded())).isEqualTo(new FinishReply.Lost());

    assertThat(tenant.resources().get("site:1").holders()).hasSize(1);
  }

  @Test
  void a_lease_from_a_server_says_all_that_one_from_the_database_says() {
    SlotKey slot = new SlotKey("nightly", Instant.parse("2026-01-31T12:00:00Z"));
    enqueue(
        NewJob.of("email", new Payload("{\"big\": 12345678901234567890.10, \"to\" : [\"ä\"]}"))
            .withSlot(slot)
            .withPriority(-3)
            .withTarget("crm")
            .withResources("site:1", Needs.resourceOfSchedule("nightly"), "target:crm")
            .withSubject(Subject.of("site", "7", "deploying"))
            .withPolicy(
                PolicyOverrides.NONE
                    .withMaxAttempts(7)
                    .withRetry(new RetryPolicy.Delays(List.of(Duration.ZERO)))
                    .withTimeout(TimeLimit.NONE)
                    .withLeaseLength(Duration.ofMillis(12_345))
                    .withOnLeaseLost(Policy.OnLeaseLost.FAIL)
                    .withOnStop(Policy.OnStop.PAUSE)
                    .withOnFailure(Policy.OnFailure.HOLD)
                    .withTokenLimit(100)
                    .withTargetCount(9)));
    Lease first = claimOne("worker");
    leases.report(first, Report.of(Progress.NONE.withCursor("c").withProgressCount(7)));
    finish(first, Outcome.failed(Failure.retryable("FLAKY", "once")));

    Lease near = tenant.leases().claim(withId("both", "worker", 1)).leases().getFirst();
    Lease far = leases.claim(withId("both", "worker", 1)).leases().getFirst();

    assertThat(near.slot()).contains(slot);
    assertThat(near.attempt().earlierFailures()).isEqualTo(1);
    assertThat(far).usingRecursiveComparison().ignoringFields("expiresAt").isEqualTo(near);
  }

  @Test
  void a_report_is_stored_as_a_whole() {
    UUID id = enqueue(NewJob.of("scrape", 1));
    Lease lease = claimOne("worker");
    Report whole =
        new Report(
            Progress.NONE.withCursor("page-2").withPercent(40),
            List.of("one", "zwei ä"),
            3,
            4,
            List.of(new Item("a", new Payload("[1.50]")), new Item("b", new Payload("null"))),
            java.util.Optional.of("r1"));

    ReportReply reply = leases.report(lease, whole);

    assertThat(reply).isEqualTo(new ReportReply.Stored(2, 0));
    assertThat(tenant.jobs().log(id)).containsExactly("one", "zwei ä");
    assertThat(tenant.jobs().items(id, 10)).isEqualTo(whole.items());
    assertThat(tenant.job(id).progress().cursor()).contains("page-2");
    assertThat(tenant.job(id).usage().outputTokens()).isEqualTo(4);
  }

  @Test
  void a_worker_that_stopped_by_itself_ends_its_attempt_as_its_policy_says_of_lost_leases() {
    UUID id =
        enqueue(
            NewJob.of("email", 1)
                .withPolicy(PolicyOverrides.NONE.withOnLeaseLost(Policy.OnLeaseLost.FAIL)));
    Lease lease = claimOne("worker");

    FinishReply reply = finish(lease, new Outcome.LeaseExpired("worker"));

    assertThat(reply).isEqualTo(new FinishReply.Recorded(JobState.FAILED));
    assertThat(tenant.job(id).errorCode()).contains(Failure.LEASE_LOST);
  }

  @Test
  void a_lease_of_a_length_that_its_worker_asked_for_is_renewed_for_that_length() {
    UUID id = enqueue(NewJob.of("email", 1));
    Lease lease =
        leases.claim(anyKind("worker", 1).withLeaseLength(Duration.ofHours(1))).leases().getFirst();
    tenant.advance(Duration.ofMinutes(10));

    leases.extend(List.of(lease));

    assertThat(tenant.job(id).lease().orElseThrow().expiresAt())
        .isAfterOrEqualTo(lease.expiresAt().plus(Duration.ofMinutes(10)));
  }

  @Test
  void arguments_that_a_server_would_refuse_come_as_they_were_stored_beside_all_others() {
    String twice = "{\"a\": 1, \"a\": 2}";
    String deep = "[".repeat(5_000) + "]".repeat(5_000);
    enqueue(NewJob.of("email", new Payload(twice)));
    enqueue(NewJob.of("email", new Payload(deep)));
    enqueue(NewJob.of("email", new Payload("\"plain \\\" text\"")));
    enqueue(NewJob.of("email", new Payload("17")));
    enqueue(NewJob.of("email", Payload.NULL));

    List<Lease> held = claim("worker", 10);

    assertThat(held)
        .extracting(lease -> lease.args().json())
        .containsExactly(twice, deep, "\"plain \\\" text\"", "17", "null");
  }

  @Test
  void results_that_a_server_refuses_fail_alone() {
    IntStream.range(0, 5).forEach(i -> enqueue(NewJob.of("email", i)));
    List<Lease> held = claim("worker", 5);
    List<String> results =
        List.of(
            "1",
            "{\"a\": 1, \"a\": 2}",
            "[".repeat(499) + "]".repeat(499),
            // Would it be sent as it is, it would end another's attempt.
            "1}, {\"job_id\": \"%s\", \"fence\": 1, \"outcome\": \"failed\""
                .formatted(held.get(4).key().jobId()),
            "5");

    List<FinishReply> replies =
        leases.finish(
            IntStream.range(0, 5)
                .mapToObj(
                    i -> new Finish(held.get(i), Outcome.succeeded(new Payload(results.get(i)))))
                .toList());

    assertThat(replies)
        .containsExactly(
            new FinishReply.Recorded(JobState.SUCCEEDED),
            new FinishReply.Recorded(JobState.FAILED),
            new FinishReply.Recorded(JobState.FAILED),
            new FinishReply.Recorded(JobState.FAILED),
            new FinishReply.Recorded(JobState.SUCCEEDED));
  }

  @Test
  void results_that_are_too_much_for_one_request_are_sent_by_several() {
    tenant.jobs().enqueueAll(IntStream.range(0, 80).mapToObj(i -> NewJob.of("email", i)).toList());
    List<Lease> held = claim("worker", 80);
    Payload large = new Payload("\"" + "x".repeat(250_000) + "\"");

    List<FinishReply> replies =
        leases.finish(
            held.stream().map(lease -> new Finish(lease, Outcome.succeeded(large))).toList());

    assertThat(replies).hasSize(80).containsOnly(new FinishReply.Recorded(JobState.SUCCEEDED));
  }

  @Test
  void a_transaction_cannot_be_shared_over_http() {
    enqueue(NewJob.of("email", 1));
    Lease lease = claimOne("worker");

    assertThatThrownBy(() -> leases.finishInTransaction(lease, connection -> Payload.NULL))
        .isInstanceOf(UnsupportedOperationException.class)
        .hasMessageContaining("over HTTP");
  }
}
