package dev.holdfast.lease;

import static org.assertj.core.api.Assertions.assertThat;

import dev.holdfast.audit.Act;
import dev.holdfast.job.Failure;
import dev.holdfast.job.Job;
import dev.holdfast.job.JobState;
import dev.holdfast.job.NewJob;
import dev.holdfast.job.Outcome;
import dev.holdfast.job.Payload;
import dev.holdfast.job.PolicyOverrides;
import java.time.Duration;
import java.util.List;
import java.util.UUID;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;

/** What every source of leases promises about the ends of attempts. */
abstract class FinishContract extends ClaimContract {

  private static final List<Outcome> NOT_THE_LAST =
      List.of(
          Outcome.failed(Failure.retryable("SMTP_DOWN", "no route")),
          Outcome.snoozed(Duration.ofSeconds(1)),
          new Outcome.Released("closing"));

  @Test
  void a_success_is_recorded_with_its_result_and_one_attempt() {
    UUID id = enqueue(NewJob.of("email", 1));
    Lease lease = claimOne("worker");

    FinishReply reply = finish(lease, Outcome.succeeded(new Payload("{\"sent\":true}")));

    assertThat(reply).isEqualTo(new FinishReply.Recorded(JobState.SUCCEEDED));
    Job job = tenant.job(id);
    assertThat(job.state()).isEqualTo(JobState.SUCCEEDED);
    assertThat(job.result().orElseThrow().json()).isEqualTo("{\"sent\":true}");
    assertThat(tenant.jobs().attempts(id)).hasSize(1);
    assertThat(tenant.jobs().attempts(id).getFirst().outcome()).isEqualTo("succeeded");
    assertThat(tenant.jobs().attempts(id).getFirst().fence()).isEqualTo(lease.key().fence());
  }

  @Test
  void a_retryable_failure_goes_back_to_the_queue_after_its_delay_and_keeps_its_error() {
    UUID id = enqueue(NewJob.of("email", 1));
    Lease lease = claimOne("worker");

    FinishReply reply = finish(lease, Outcome.failed(Failure.retryable("SMTP_DOWN", "no route")));

    assertThat(reply).isEqualTo(new FinishReply.Recorded(JobState.QUEUED));
    Job job = tenant.job(id);
    assertThat(job.errorCode()).contains("SMTP_DOWN");
    assertThat(job.errorMessage()).contains("no route");
    assertThat(claim("worker", 1)).isEmpty();
    tenant.advance(Duration.ofSeconds(60));
    assertThat(claim("worker", 1)).hasSize(1);
  }

  @Test
  void a_job_that_fails_on_its_last_attempt_is_failed_with_every_attempt_in_its_history() {
    UUID id = enqueue(NewJob.of("email", 1));

    for (int attempt = 1; attempt <= 3; attempt++) {
      finish(claimOne("worker"), Outcome.failed(Failure.retryable("SMTP_DOWN", "try " + attempt)));
      tenant.advance(Duration.ofMinutes(15));
    }

    assertThat(tenant.job(id).state()).isEqualTo(JobState.FAILED);
    assertThat(tenant.jobs().attempts(id)).hasSize(3);
    assertThat(tenant.jobs().attempts(id)).extracting("number").containsExactly(1, 2, 3);
    assertThat(tenant.jobs().attempts(id)).extracting("fence", Long.class).isSorted();
  }

  @Test
  void a_worker_that_lost_its_lease_cannot_finish_the_job() {
    UUID id = enqueue(NewJob.of("email", 1));
    Lease lost = claimOne("worker-a");
    expireAndReap();
    Lease current = claimOne("worker-b");

    FinishReply reply = finish(lost, Outcome.succeeded());

    assertThat(reply).isEqualTo(new FinishReply.Lost());
    assertThat(tenant.job(id).state()).isEqualTo(JobState.RUNNING);
    assertThat(current.key().fence()).isGreaterThan(lost.key().fence());
    assertThat(finish(current, Outcome.succeeded())).isInstanceOf(FinishReply.Recorded.class);
  }

  @Test
  void nor_can_it_send_the_job_back() {
    UUID id = enqueue(NewJob.of("email", 1));
    Lease lost = claimOne("worker-a");
    expireAndReap();
    Lease current = claimOne("worker-b");

    FinishReply reply = finish(lost, Outcome.failed(Failure.retryable("FLAKY", "too late")));

    assertThat(reply).isEqualTo(new FinishReply.Lost());
    assertThat(tenant.job(id).state()).isEqualTo(JobState.RUNNING);
    assertThat(finish(current, Outcome.succeeded())).isInstanceOf(FinishReply.Recorded.class);
  }

  @Test
  void finishing_twice_records_once() {
    UUID id = enqueue(NewJob.of("email", 1));
    Lease lease = claimOne("worker");

    finish(lease, Outcome.succeeded());
    FinishReply again = finish(lease, Outcome.failed(Failure.permanent("X", "y")));

    assertThat(again).isEqualTo(new FinishReply.Lost());
    assertThat(tenant.job(id).state()).isEqualTo(JobState.SUCCEEDED);
  }

  @Test
  void an_end_reported_again_because_the_answer_got_lost_is_recorded_once_and_answered_the_same() {
    UUID succeeded = enqueue(NewJob.of("email", 1));
    UUID retried = enqueue(NewJob.of("email", 2));
    List<Lease> leases = claim("worker", 2);
    List<Finish> ends =
        List.of(
            new Finish(leases.get(0), Outcome.succeeded()),
            new Finish(leases.get(1), Outcome.failed(Failure.retryable("FLAKY", "try again"))));

    List<FinishReply> first = leases().finish(ends);
    List<FinishReply> again = leases().finish(ends);

    assertThat(again).isEqualTo(first).doesNotContain(new FinishReply.Lost());
    assertThat(tenant.jobs().attempts(succeeded)).hasSize(1);
    assertThat(tenant.jobs().attempts(retried)).hasSize(1);
  }

  @Test
  void an_end_that_a_requested_stop_turned_into_another_is_answered_the_same_again() {
    for (Outcome end : NOT_THE_LAST) {
      UUID cancelled = enqueue(NewJob.of("email", 1));
      Lease lease = claimOne("worker");
      tenant.acts().cancel(cancelled, Act.by("ada"));
      assertThat(finish(lease, end)).isEqualTo(new FinishReply.Recorded(JobState.CANCELLED));
      assertThat(finish(lease, end)).isEqualTo(new FinishReply.Recorded(JobState.CANCELLED));

      UUID paused = enqueue(NewJob.of("email", 1));
      Lease other = claimOne("worker");
      tenant.acts().pause(paused, Act.by("ada"));
      assertThat(finish(other, end)).isEqualTo(new FinishReply.Recorded(JobState.PAUSED));
      assertThat(finish(other, end)).isEqualTo(new FinishReply.Recorded(JobState.PAUSED));

      assertThat(tenant.jobs().attempts(cancelled)).hasSize(1);
      assertThat(tenant.jobs().attempts(paused)).hasSize(1);
    }
  }

  @Test
  void an_end_over_the_token_limit_is_answered_the_same_again_whatever_it_was() {
    List<Outcome> ends =
        List.of(Outcome.succeeded(), Outcome.failed(Failure.permanent("X", "too much of it")));
    for (Outcome end : ends) {
      UUID id = enqueue(NewJob.of("email", 1).withPolicy(PolicyOverrides.NONE.withTokenLimit(10)));
      Lease lease = claimOne("worker");
      assertThat(leases().report(lease, Report.ofUsage(20, 0)))
          .isInstanceOf(ReportReply.Stored.class);

      FinishReply first = finish(lease, end);
      FinishReply again = finish(lease, end);

      assertThat(first).isEqualTo(new FinishReply.Recorded(JobState.FAILED));
      assertThat(again).isEqualTo(first);
      assertThat(tenant.job(id).errorCode()).contains(Failure.TOKEN_LIMIT);
    }
  }

  @Test
  void a_batch_is_answered_in_its_order_whatever_the_outcomes() {
    IntStream.range(0, 4).forEach(i -> enqueue(NewJob.of("email", i)));
    List<Lease> held = claim("worker", 4);
    Lease stale = held.get(2);
    finish(stale, Outcome.succeeded());

    List<FinishReply> replies =
        leases()
            .finish(
                List.of(
                    new Finish(held.get(0), Outcome.succeeded()),
                    new Finish(held.get(1), Outcome.snoozed(Duration.ofHours(1))),
                    new Finish(stale, Outcome.failed(Failure.permanent("X", "too late"))),
                    new Finish(held.get(3), Outcome.failed(Failure.permanent("X", "y")))));

    assertThat(replies)
        .containsExactly(
            new FinishReply.Recorded(JobState.SUCCEEDED),
            new FinishReply.Recorded(JobState.QUEUED),
            new FinishReply.Lost(),
            new FinishReply.Recorded(JobState.FAILED));
  }

  @Test
  void one_outcome_that_cannot_be_stored_fails_alone() {
    IntStream.range(0, 9).forEach(i -> enqueue(NewJob.of("email", i)));
    List<Lease> held = claim("worker", 9);
    List<Finish> batch =
        IntStream.range(0, 9)
            .mapToObj(
                i -> new Finish(held.get(i), Outcome.succeeded(new Payload(i == 5 ? "{bad" : "1"))))
            .toList();

    List<FinishReply> replies = leases().finish(batch);

    assertThat(replies).hasSize(9);
    for (int i = 0; i < 9; i++) {
      JobState expected = i == 5 ? JobState.FAILED : JobState.SUCCEEDED;
      assertThat(replies.get(i)).isEqualTo(new FinishReply.Recorded(expected));
    }
    assertThat(tenant.job(held.get(5).key().jobId()).errorCode()).contains("UNSTORABLE_OUTCOME");
  }

  @Test
  void snoozed_and_released_attempts_are_not_counted() {
    UUID id = enqueue(NewJob.of("email", 1));

    finish(claimOne("worker"), Outcome.snoozed(Duration.ofSeconds(10)));
    tenant.advance(Duration.ofSeconds(10));
    finish(claimOne("worker"), new Outcome.Released("closing"));

    assertThat(tenant.job(id).attempt()).isZero();
    assertThat(claimOne("worker").attempt().number()).isEqualTo(1);
    assertThat(tenant.jobs().attempts(id))
        .extracting("outcome")
        .containsExactly("snoozed", "released");
  }

  @Test
  void a_job_that_was_asked_to_stop_does_not_run_again_however_its_attempt_ends() {
    for (Outcome end : NOT_THE_LAST) {
      UUID id = enqueue(NewJob.of("email", 1));
      Lease lease = claimOne("worker");
      tenant.acts().stop(id, Act.by("ada"));

      FinishReply reply = finish(lease, end);

      assertThat(reply).isEqualTo(new FinishReply.Recorded(JobState.CANCELLED));
      assertThat(tenant.job(id).state()).isEqualTo(JobState.CANCELLED);
    }
  }
}
