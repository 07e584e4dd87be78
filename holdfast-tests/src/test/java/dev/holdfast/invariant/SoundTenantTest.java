package dev.holdfast.invariant;

import static dev.holdfast.invariant.AtWork.ADA;
import static org.assertj.core.api.Assertions.assertThat;

import dev.holdfast.hold.Holds;
import dev.holdfast.job.Failure;
import dev.holdfast.job.JobState;
import dev.holdfast.job.NewJob;
import dev.holdfast.job.Outcome;
import dev.holdfast.job.Payload;
import dev.holdfast.job.Policy.OnFailure;
import dev.holdfast.job.PolicyOverrides;
import dev.holdfast.job.RetryPolicy;
import dev.holdfast.lease.ClaimRequest;
import dev.holdfast.lease.LanePositions;
import dev.holdfast.lease.Lease;
import dev.holdfast.lease.PgLeases;
import dev.holdfast.lease.Report;
import dev.holdfast.queue.QueueSettings;
import dev.holdfast.testkit.TestTenant;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.UUID;
import java.util.stream.IntStream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

/** Whatever the engine does, and however odd it looks, breaks no rule. */
class SoundTenantTest {

  private static final NewJob ANY = NewJob.of("any", 1);
  private static final NewJob SITE = ANY.withResources("site:1");
  private static final NewJob LINE = ANY.withTarget("line");
  private static final Failure FAILURE = Failure.retryable("E", "e");

  @RegisterExtension final TestTenant tenant = new TestTenant();

  private final AtWork at = new AtWork(tenant);

  @AfterEach
  void is_sound_in_the_end() {
    at.isSound();
    tenant.advance(Duration.ofMinutes(1));
    at.isSound();
  }

  @Test
  void running_and_waiting() {
    IntStream.range(0, 3).forEach(i -> at.enqueue(SITE));
    IntStream.range(0, 3).forEach(i -> at.enqueue(LINE));
    at.isSound();
    List<Lease> running = at.claim();

    assertThat(running).hasSize(2);
    at.isSound();
    running.forEach(at::succeed);
    at.isSound();
    assertThat(at.claim()).hasSize(2);
  }

  @Test
  void woken_and_not_yet_claimed() {
    IntStream.range(0, 5).forEach(i -> at.enqueue(i % 2 == 0 ? SITE : SITE.withPriority(-1)));
    Lease running = at.claimOne();
    at.enqueue(ANY.withPriority(1).withResources("site:1"));

    at.succeed(running);
    at.isSound();

    tenant.acts().cancel(tenant.job(at.claimOne().key().jobId()).id(), ADA);
  }

  @Test
  void silent_work_that_still_occupies_and_then_passes_on() {
    UUID lost = at.enqueue(SITE);
    at.enqueue(LINE);
    at.claim();
    at.enqueue(SITE);
    at.enqueue(LINE);
    at.claim();

    tenant.advance(Duration.ofSeconds(31)); // expired, and no reaper came yet
    at.isSound();
    at.reap(); // lingers
    assertThat(tenant.job(lost).state()).isEqualTo(JobState.QUEUED);
    at.isSound();
    assertThat(at.claim()).isEmpty();
    at.isSound();
    tenant.advance(Holds.KILL_GRACE.plusSeconds(5)); // over, and no reaper came yet
    at.isSound();
    at.reap();
    at.isSound();
    assertThat(at.claim()).hasSize(2);
  }

  @Test
  void silent_work_that_says_at_last_that_it_stopped() {
    at.enqueue(SITE);
    at.enqueue(SITE);
    Lease lost = at.claimOne();
    at.leases().report(lost, Report.ofLog(List.of("before")));
    tenant.advance(Duration.ofSeconds(31));
    at.reap();

    at.succeed(lost);

    at.isSound();
    Lease again = at.claimOne();
    at.leases().report(again, Report.ofLog(List.of("after")));
  }

  @Test
  void a_capacity_that_is_lowered_while_it_is_used() {
    tenant.resources().setCapacity("pool", 3, ADA);
    IntStream.range(0, 6).forEach(i -> at.enqueue(ANY.withResources("pool")));
    List<Lease> running = at.claim();
    assertThat(running).hasSize(3);

    tenant.resources().setCapacity("pool", 1, ADA);
    at.isSound();
    at.succeed(running.get(0));
    at.isSound();
    tenant.advance(Duration.ofSeconds(20));
    tenant.resources().setCapacity("pool", 2, ADA);
    at.isSound();
    at.succeed(running.get(1));
    assertThat(at.claim()).hasSize(1);
  }

  @Test
  void jobs_that_stand_on_their_target_and_what_people_do_about_it() {
    NewJob stays =
        LINE.withPolicy(PolicyOverrides.NONE.withMaxAttempts(1).withOnFailure(OnFailure.HOLD));
    UUID resolved = fail(at.enqueue(stays));
    at.isSound();
    tenant.acts().resolve(resolved, Payload.NULL, ADA);
    at.isSound();
    UUID resumed = fail(at.enqueue(stays));
    tenant.acts().resume(resumed, ADA);
    at.isSound();
    at.succeed(at.claimOne());
    UUID paused = at.enqueue(LINE);
    tenant.acts().pause(paused, ADA);
    at.enqueue(LINE);
    assertThat(at.claim()).isEmpty();
    at.isSound();
    tenant.acts().cancel(paused, ADA);
    at.isSound();
    at.succeed(at.claimOne());
    fail(at.enqueue(stays));

    tenant.resources().release("target:line", ADA);

    at.isSound();
  }

  private UUID fail(UUID job) {
    at.finish(at.claimOne(), Outcome.failed(FAILURE));
    assertThat(tenant.job(job).state()).isEqualTo(JobState.FAILED);
    return job;
  }

  @Test
  void a_job_that_comes_back_to_its_old_place_while_a_later_one_runs() {
    UUID first = at.enqueue(LINE);
    at.enqueue(LINE);
    tenant.acts().pause(first, ADA);
    tenant.resources().release("target:line", ADA);
    Lease later = at.claimOne();
    tenant.advance(Duration.ofSeconds(20));

    tenant.acts().resume(first, ADA);
    at.enqueue(LINE.withPriority(-1));
    assertThat(at.claim()).isEmpty();
    at.isSound();

    tenant.advance(Duration.ofSeconds(5));
    at.succeed(later);
  }

  @Test
  void a_job_that_is_due_earlier_than_one_that_runs_and_came_later() {
    at.enqueue(LINE);
    Lease running = at.claimOne();
    at.enqueue(LINE.withRunAt(running.runAt().minusSeconds(3600)));

    assertThat(at.claim()).isEmpty();
  }

  @Test
  void a_job_that_was_dispatched_before_a_more_urgent_one_came_and_starts_after_that() {
    at.enqueue(LINE);
    PgLeases leases =
        new PgLeases(tenant.tenant(), Set::of, new LanePositions(() -> 0), () -> 0, () -> {});
    ClaimRequest request = ClaimRequest.of("agent", Set.of("default"), 1).acknowledging();
    Lease dispatched = leases.claim(request).leases().getFirst();
    at.enqueue(LINE.withPriority(-1));
    assertThat(at.claim()).isEmpty();

    tenant.advance(Duration.ofSeconds(2));
    leases.remote().start("agent", List.of(dispatched.key()));

    at.isSound();
  }

  @Test
  void a_job_that_becomes_due_before_the_first_in_line() {
    at.enqueue(LINE);
    UUID urgent = at.enqueue(LINE.withPriority(-1).withDelay(Duration.ofSeconds(60)));
    Lease running = at.claimOne();
    at.enqueue(LINE);
    assertThat(at.claim()).isEmpty();
    at.succeed(running); // wakes the second
    tenant.advance(Duration.ofSeconds(61));
    at.isSound();

    assertThat(at.claimOne().key().jobId()).isEqualTo(urgent);
  }

  @Test
  void attempts_that_are_retried_given_back_and_granted() {
    PolicyOverrides twice =
        PolicyOverrides.NONE
            .withMaxAttempts(2)
            .withRetry(new RetryPolicy.Delays(List.of(Duration.ofSeconds(1))));
    UUID job = at.enqueue(SITE.withPolicy(twice));

    for (Outcome outcome :
        List.of(
            Outcome.snoozed(Duration.ofSeconds(1)),
            Outcome.failed(FAILURE),
            new Outcome.Released("drain"),
            Outcome.failed(FAILURE))) {
      at.finish(at.claimOne(), outcome);
      at.isSound();
      tenant.advance(Duration.ofSeconds(2));
    }
    assertThat(tenant.job(job).state()).isEqualTo(JobState.FAILED);
    tenant.acts().resume(job, ADA);
    at.isSound();
    at.claimOne();
    at.isSound();
    tenant.acts().pause(job, ADA);
    tenant.advance(Duration.ofSeconds(31));
    at.reap();
    assertThat(tenant.job(job).state()).isEqualTo(JobState.PAUSED);
    at.isSound();
    tenant.acts().resume(job, ADA);
  }

  @Test
  void fewer_attempts_than_a_job_has_had_already() {
    NewJob crashes = ANY;
    tenant
        .queues()
        .put(
            "default",
            QueueSettings.DEFAULTS.withDefaults(PolicyOverrides.NONE.withMaxAttempts(9)));
    at.enqueue(crashes);
    for (int attempt = 0; attempt < 5; attempt++) {
      at.claimOne();
      tenant.advance(Duration.ofSeconds(31));
      at.reap();
    }

    tenant.queues().put("default", QueueSettings.DEFAULTS);
    at.isSound();
    at.claimOne();
  }

  @Test
  void a_stored_policy_that_cannot_be_read() {
    at.enqueue(ANY);
    tenant.execute("UPDATE {schema}.job SET policy = '{\"max_attempts\": \"many\"}'");

    at.claimOne();
  }

  @Test
  void a_claim_that_is_repeated() {
    at.enqueue(ANY);
    at.enqueue(SITE);
    ClaimRequest request = ClaimRequest.of("worker", Set.of("default"), 10).withClaimId("the same");

    assertThat(at.claim(request)).hasSize(2);
    assertThat(at.claim(request)).hasSize(2);
  }

  @Test
  void a_job_that_reserves_because_it_was_passed_over() {
    List<Lease> running = new ArrayList<>();
    for (String name : List.of("a", "b")) {
      at.enqueue(ANY.withResources(name));
      running.add(at.claimOne());
    }
    UUID both = at.enqueue(NewJob.of("big", 1).withResources("a", "b"));
    at.claim();
    boolean ran = false;
    for (int turn = 0; turn < 20 && !ran; turn++) {
      tenant.advance(Duration.ofSeconds(10));
      at.leases().extend(running);
      at.enqueue(ANY.withResources(turn % 2 == 0 ? "a" : "b"));
      at.succeed(running.removeFirst());
      at.isSound();
      List<Lease> claimed = at.claim();
      at.isSound();
      ran = claimed.stream().anyMatch(lease -> lease.key().jobId().equals(both));
      running.addAll(claimed);
    }

    assertThat(ran).isTrue();
    at.isSound();
  }
}
