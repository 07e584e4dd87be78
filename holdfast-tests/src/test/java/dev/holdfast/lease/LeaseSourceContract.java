package dev.holdfast.lease;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

import dev.holdfast.audit.Act;
import dev.holdfast.job.Failure;
import dev.holdfast.job.Job;
import dev.holdfast.job.JobState;
import dev.holdfast.job.NewJob;
import dev.holdfast.job.Outcome;
import dev.holdfast.job.Payload;
import dev.holdfast.job.Placement;
import dev.holdfast.job.PolicyOverrides;
import dev.holdfast.job.Progress;
import dev.holdfast.lease.Extension.Status;
import dev.holdfast.queue.QueueSettings;
import dev.holdfast.testkit.Covers;
import dev.holdfast.testkit.TestTenant;
import java.time.Duration;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.UUID;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.random.RandomGenerator;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

/** What every source of leases promises. Run against each implementation. */
abstract class LeaseSourceContract {

  @RegisterExtension final TestTenant tenant = new TestTenant();

  abstract LeaseSource leases();

  // Claiming

  @Test
  @Covers({"A6", "B4"})
  void a_claim_makes_the_job_running_under_the_workers_name_until_the_lease_ends() {
    UUID id = enqueue(NewJob.of("email", Map.of("to", "ada")));

    Lease lease = claimOne("worker-a");

    Job job = tenant.job(id);
    assertThat(job.state()).isEqualTo(JobState.RUNNING);
    assertThat(job.lease().orElseThrow().owner()).isEqualTo("worker-a");
    assertThat(job.startedAt()).isPresent();
    assertThat(job.attempt()).isEqualTo(1);
    assertThat(job.fence()).isEqualTo(lease.key().fence()).isPositive();
    assertThat(job.lease().orElseThrow().expiresAt())
        .isCloseTo(job.startedAt().orElseThrow().plusSeconds(30), within(1, ChronoUnit.MILLIS));
    assertThat(lease.args().json()).isEqualTo("{\"to\":\"ada\"}");
  }

  @Test
  void a_leased_job_is_not_given_to_anybody_else() {
    enqueue(NewJob.of("email", "x"));
    claimOne("worker-a");

    assertThat(claim("worker-b", 10)).isEmpty();
  }

  @Test
  void a_claim_brings_no_more_jobs_than_asked_for() {
    IntStream.range(0, 20).forEach(i -> enqueue(NewJob.of(i % 2 == 0 ? "even" : "odd", i)));

    List<Lease> leases = leases().claim(anyKind("worker-a", 7)).leases();

    assertThat(leases).hasSize(7);
    assertThat(tenant.query("SELECT id FROM {schema}.job WHERE state = 'running'")).hasSize(7);
  }

  @Test
  void jobs_come_by_priority_then_due_time_then_order_of_enqueue_across_kinds() {
    Instant due = Instant.parse("2020-01-01T00:00:00Z");
    UUID third = enqueue(NewJob.of("a", 3).withRunAt(due.plusSeconds(1)));
    UUID fourth = enqueue(NewJob.of("b", 4).withRunAt(due.plusSeconds(1)));
    UUID second = enqueue(NewJob.of("b", 2).withRunAt(due));
    UUID fifth = enqueue(NewJob.of("a", 5).withPriority(7).withRunAt(due));
    UUID first = enqueue(NewJob.of("c", 1).withPriority(-3).withRunAt(due.plusSeconds(9)));

    List<UUID> firstTwo = ids(leases().claim(anyKind("worker", 2)).leases());
    List<UUID> rest = ids(leases().claim(anyKind("worker", 10)).leases());

    assertThat(firstTwo).containsExactly(first, second);
    assertThat(rest).containsExactly(third, fourth, fifth);
  }

  @Test
  @Covers("A5")
  void a_job_is_not_claimable_before_its_time_and_is_after_it() {
    enqueue(NewJob.of("email", "x").withDelay(Duration.ofMinutes(10)));

    Claimed early = leases().claim(anyKind("worker", 1));
    tenant.advance(Duration.ofMinutes(10));
    Claimed due = leases().claim(anyKind("worker", 1));

    assertThat(early.leases()).isEmpty();
    assertThat(due.leases()).hasSize(1);
  }

  @Test
  void a_worker_gets_only_kinds_and_queues_it_serves() {
    enqueue(NewJob.of("email", 1));
    enqueue(NewJob.of("email", 2).withQueue("other"));
    UUID served = enqueue(NewJob.of("report", 3));

    List<Lease> leases = claimKinds("worker", 10, Set.of("report"));

    assertThat(ids(leases)).containsExactly(served);
  }

  @Test
  void a_pending_job_is_not_offered() {
    enqueue(NewJob.of("email", 1).asPending());

    assertThat(leases().claim(anyKind("worker", 1)).leases()).isEmpty();
  }

  @Test
  void a_required_host_is_waited_for() {
    UUID id = enqueue(NewJob.of("email", 1).withPlacement(Placement.requiring("gpu-1")));

    tenant.advance(Duration.ofHours(1));

    assertThat(claimFrom("host-b", Map.of())).isEmpty();
    assertThat(ids(claimFrom("gpu-1", Map.of()))).containsExactly(id);
  }

  @Test
  void labels_must_all_be_among_the_workers() {
    UUID id = enqueue(NewJob.of("email", 1).withLabels(Map.of("gpu", "yes", "zone", "eu")));

    assertThat(claimFrom("h", Map.of("gpu", "yes"))).isEmpty();
    assertThat(claimFrom("h", Map.of("gpu", "yes", "zone", "us"))).isEmpty();
    assertThat(ids(claimFrom("h", Map.of("gpu", "yes", "zone", "eu", "disk", "ssd"))))
        .containsExactly(id);
  }

  @Test
  void a_paused_queue_gives_nothing_until_it_goes_on() {
    enqueue(NewJob.of("email", 1));
    tenant.queues().put("default", QueueSettings.DEFAULTS.withPaused(true));

    List<Lease> whilePaused = claim("worker", 1);
    tenant.queues().put("default", QueueSettings.DEFAULTS);

    assertThat(whilePaused).isEmpty();
    assertThat(claim("worker", 1)).hasSize(1);
  }

  @Test
  void no_more_jobs_of_a_queue_run_at_once_than_its_limit_over_all_workers() throws Exception {
    tenant.queues().put("default", QueueSettings.DEFAULTS.withConcurrencyLimit(3));
    IntStream.range(0, 30).forEach(i -> enqueue(NewJob.of("email", i)));

    List<List<Lease>> claims = concurrently(4, number -> claim("worker-" + number, 10));

    assertThat(claims.stream().mapToInt(List::size).sum()).isEqualTo(3);
    Lease one = claims.stream().flatMap(List::stream).findFirst().orElseThrow();
    finish(one, Outcome.succeeded());
    assertThat(claim("worker-x", 10)).hasSize(1);
  }

  @Test
  void concurrent_claimers_share_the_jobs_and_nobody_gets_one_twice() throws Exception {
    IntStream.range(0, 200).forEach(i -> enqueue(NewJob.of("kind-" + i % 5, i)));

    List<List<Lease>> claims =
        concurrently(8, number -> leases().claim(anyKind("worker-" + number, 25)).leases());
    List<UUID> all = claims.stream().flatMap(List::stream).map(l -> l.key().jobId()).toList();

    assertThat(new HashSet<>(all)).hasSameSizeAs(all);
    // SKIP LOCKED may leave some for the next claim, never lose them.
    int rest = leases().claim(anyKind("worker-z", 200)).leases().size();
    assertThat(all.size() + rest).isEqualTo(200);
  }

  @Test
  void the_same_claim_id_gets_the_same_leases() {
    IntStream.range(0, 5).forEach(i -> enqueue(NewJob.of("email", i)));

    List<Lease> first = leases().claim(withId("claim-1", "worker", 3)).leases();
    List<Lease> again = leases().claim(withId("claim-1", "worker", 3)).leases();
    List<Lease> other = leases().claim(withId("claim-2", "worker", 3)).leases();

    assertThat(first).hasSize(3);
    assertThat(keys(again)).isEqualTo(keys(first));
    assertThat(other).hasSize(2);
  }

  @Test
  void a_claim_id_that_brought_nothing_looks_again() {
    List<Lease> nothing = leases().claim(withId("claim-1", "worker", 3)).leases();
    enqueue(NewJob.of("email", 1));

    assertThat(nothing).isEmpty();
    assertThat(leases().claim(withId("claim-1", "worker", 3)).leases()).hasSize(1);
  }

  @Test
  void a_lease_is_as_long_as_the_worker_asks_or_the_job_or_its_queue_says() {
    tenant.queues().put("slow", QueueSettings.DEFAULTS.withDefaults(lease(Duration.ofSeconds(90))));
    enqueue(NewJob.of("email", 1).withQueue("slow"));
    enqueue(NewJob.of("email", 2).withQueue("slow").withPolicy(lease(Duration.ofSeconds(5))));
    enqueue(NewJob.of("email", 3).withQueue("slow"));
    ClaimRequest slow = anyKind("worker", 1).withQueues(Set.of("slow"));

    assertThat(leases().claim(slow).leases().getFirst().length()).hasSeconds(90);
    assertThat(leases().claim(slow).leases().getFirst().length()).hasSeconds(5);
    ClaimRequest asking =
        ClaimRequest.of("worker", Set.of("slow"), 1).withLeaseLength(Duration.ofSeconds(7));
    assertThat(leases().claim(asking).leases().getFirst().length()).hasSeconds(7);
  }

  // Extending

  @Test
  @Covers("B5")
  void a_beat_renews_the_lease_for_its_full_length() {
    UUID id = enqueue(NewJob.of("email", 1));
    Lease lease = claimOne("worker");
    Instant before = tenant.job(id).lease().orElseThrow().expiresAt();
    tenant.advance(Duration.ofSeconds(20));

    List<Extension> extensions = leases().extend(List.of(lease));

    assertThat(extensions).containsExactly(new Extension(lease.key(), Status.EXTENDED));
    assertThat(tenant.job(id).lease().orElseThrow().expiresAt())
        .isAfterOrEqualTo(before.plusSeconds(20));
  }

  @Test
  @Covers("B5")
  void a_beat_hears_that_somebody_wants_the_job_to_stop() {
    UUID id = enqueue(NewJob.of("email", 1));
    Lease lease = claimOne("worker");
    tenant.acts().stop(id, Act.by("ada"));

    List<Extension> extensions = leases().extend(List.of(lease));

    assertThat(extensions).containsExactly(new Extension(lease.key(), Status.STOP_REQUESTED));
  }

  @Test
  void a_lost_lease_cannot_be_extended_and_the_others_are() {
    enqueue(NewJob.of("email", 1));
    Lease lost = claimOne("worker-a");
    expireAndReap();
    Lease current = claimOne("worker-b");

    List<Extension> extensions = leases().extend(List.of(lost, current));

    assertThat(extensions)
        .containsExactly(
            new Extension(lost.key(), Status.LOST), new Extension(current.key(), Status.EXTENDED));
  }

  // Finishing

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
    List<Outcome> ends =
        List.of(
            Outcome.failed(Failure.retryable("SMTP_DOWN", "no route")),
            Outcome.snoozed(Duration.ofSeconds(1)),
            new Outcome.Released("closing"));
    for (Outcome end : ends) {
      UUID id = enqueue(NewJob.of("email", 1));
      Lease lease = claimOne("worker");
      tenant.acts().stop(id, Act.by("ada"));

      FinishReply reply = finish(lease, end);

      assertThat(reply).isEqualTo(new FinishReply.Recorded(JobState.CANCELLED));
      assertThat(tenant.job(id).state()).isEqualTo(JobState.CANCELLED);
    }
  }

  // Reporting

  @Test
  void progress_is_handed_to_the_next_attempt() {
    enqueue(NewJob.of("email", 1));
    Lease lease = claimOne("worker");
    Progress progress = Progress.NONE.withCursor("page-7").withProgressCount(70).withPercent(12.5);

    boolean stored = leases().report(lease.key(), Report.of(progress));
    finish(lease, new Outcome.Released("closing"));

    assertThat(stored).isTrue();
    assertThat(claimOne("worker").progress()).isEqualTo(progress);
  }

  @Test
  void a_worker_that_lost_its_lease_can_store_nothing() {
    UUID id = enqueue(NewJob.of("email", 1));
    Lease lost = claimOne("worker-a");
    expireAndReap();
    claimOne("worker-b");

    Report report =
        new Report(Progress.NONE.withCursor("zombie"), List.of("zombie was here"), 10, 10);

    assertThat(leases().report(lost.key(), report)).isFalse();
    assertThat(leases().report(lost.key(), Report.ofLog(List.of("still here")))).isFalse();
    assertThat(tenant.job(id).progress()).isEqualTo(Progress.NONE);
    assertThat(tenant.jobs().log(id)).isEmpty();
  }

  @Test
  void log_lines_are_kept_in_order_across_attempts() {
    UUID id = enqueue(NewJob.of("email", 1));
    Lease first = claimOne("worker");
    leases().report(first.key(), Report.ofLog(List.of("one", "two")));
    finish(first, new Outcome.Released("closing"));
    Lease second = claimOne("worker");
    leases().report(second.key(), Report.ofLog(List.of("three")));

    assertThat(tenant.jobs().log(id)).containsExactly("one", "two", "three");
  }

  // Words the rules above are told in

  UUID enqueue(NewJob job) {
    return tenant.jobs().enqueue(job).id();
  }

  Lease claimOne(String worker) {
    List<Lease> leases = claim(worker, 1);
    assertThat(leases).hasSize(1);
    return leases.getFirst();
  }

  List<Lease> claim(String worker, int limit) {
    return leases().claim(anyKind(worker, limit)).leases();
  }

  List<Lease> claimKinds(String worker, int limit, Set<String> kinds) {
    ClaimRequest any = anyKind(worker, limit);
    return leases().claim(ClaimRequest.of(worker, any.queues(), limit).withKinds(kinds)).leases();
  }

  List<Lease> claimFrom(String host, Map<String, String> labels) {
    return leases()
        .claim(ClaimRequest.of("worker", Set.of("default"), 10).withPlace(host, labels))
        .leases();
  }

  static ClaimRequest anyKind(String worker, int limit) {
    return ClaimRequest.of(worker, Set.of("default"), limit);
  }

  static ClaimRequest withId(String claimId, String worker, int limit) {
    return ClaimRequest.of(worker, Set.of("default"), limit).withClaimId(claimId);
  }

  FinishReply finish(Lease lease, Outcome outcome) {
    return leases().finish(List.of(new Finish(lease, outcome))).getFirst();
  }

  void expireAndReap() {
    tenant.advance(Duration.ofSeconds(31));
    assertThat(new Reaper(tenant.tenant(), RandomGenerator.getDefault(), () -> {}).runOnce())
        .isPositive();
  }

  static PolicyOverrides lease(Duration length) {
    return PolicyOverrides.NONE.withLeaseLength(length);
  }

  static List<UUID> ids(List<Lease> leases) {
    return leases.stream().map(lease -> lease.key().jobId()).toList();
  }

  static List<LeaseKey> keys(List<Lease> leases) {
    return leases.stream().map(Lease::key).toList();
  }

  interface Numbered<T> {
    T call(int number);
  }

  static <T> List<T> concurrently(int threads, Numbered<T> work) throws Exception {
    try (var executor = Executors.newFixedThreadPool(threads)) {
      List<Future<T>> futures =
          IntStream.range(0, threads)
              .mapToObj(number -> executor.submit(() -> work.call(number)))
              .toList();
      List<T> results = new java.util.ArrayList<>();
      for (Future<T> future : futures) {
        results.add(future.get());
      }
      return results;
    }
  }
}
