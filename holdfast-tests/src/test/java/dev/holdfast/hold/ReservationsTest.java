package dev.holdfast.hold;

import static org.assertj.core.api.Assertions.assertThat;

import dev.holdfast.invariant.Violation;
import dev.holdfast.job.JobState;
import dev.holdfast.job.NewJob;
import dev.holdfast.lease.ClaimRequest;
import dev.holdfast.lease.Lease;
import dev.holdfast.queue.QueueSettings;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.UUID;
import org.junit.jupiter.api.Test;

/** What is kept for a job that waited too long, and when it no longer is. */
class ReservationsTest extends EngineRig {

  @Test
  void what_was_kept_for_a_job_that_nobody_serves_any_more_goes_to_others() {
    UUID gone = impatient(NewJob.of("gone", 1));
    UUID other = enqueue(NewJob.of("served", 1).withResources("a"));

    List<Lease> got = claimForHours("served");

    assertThat(ids(got)).contains(other);
    assertThat(tenant.job(gone).state()).isEqualTo(JobState.QUEUED);
  }

  @Test
  void a_paused_queue_keeps_nothing_for_its_jobs() {
    impatient(NewJob.of("served", 1).withQueue("paused"));
    tenant.queues().put("paused", QueueSettings.DEFAULTS.withPaused(true));
    UUID first = enqueue(NewJob.of("served", 1).withResources("a"));
    UUID second = enqueue(NewJob.of("served", 1).withResources("b"));

    assertThat(ids(claimForHours("served"))).contains(first, second);
  }

  @Test
  void nobody_keeps_a_later_name_while_waiting_for_an_earlier() {
    tenant.resources().setCapacity("a", 2, ADA);
    enqueue(NewJob.of("holds-a", 1).withResources("a"));
    enqueue(NewJob.of("holds-b", 1).withResources("b"));
    List<Lease> held = claim(2);
    enqueue(NewJob.of("waits", 1).withResources("a", "b"));
    assertThat(claim(1)).isEmpty();
    for (int i = 0; i < 4; i++) {
      tenant.advance(Duration.ofSeconds(20));
      leases().extend(held);
    }
    tenant.resources().setCapacity("b", 1, ADA); // wakes it, and it finds b taken once more
    claim(1);

    tenant.resources().setCapacity("a", 1, ADA); // what it has reserved is gone
    succeed(held.get(held.get(0).kind().equals("holds-b") ? 0 : 1));
    claim(1);

    assertThat(
            tenant.query(
                """
                SELECT job_id
                  FROM {schema}.reservation AS waits
                  JOIN {schema}.reservation AS has USING (job_id)
                 WHERE NOT waits.got AND has.got AND has.resource > waits.resource
                """))
        .isEmpty();
  }

  @Test
  void one_that_need_not_insist_any_more_keeps_nothing_from_itself_or_those_behind_it() {
    UUID id = impatient(NewJob.of("served", 1)); // and woken: it has both
    tenant.execute("UPDATE {schema}.job SET waiting_since = NULL, passed_over = NULL");
    tenant.advance(Duration.ofSeconds(11)); // nobody came for it
    enqueue(NewJob.of("served", 1).withPriority(-1).withResources("a"));
    Lease other = claimAny(1).getFirst();
    assertThat(other.key().jobId()).isNotEqualTo(id);
    assertThat(claimAny(1)).isEmpty();

    succeed(other);

    assertThat(ids(claimAny(1))).containsExactly(id);
  }

  @Test
  void a_room_that_is_kept_for_one_who_waits_for_it_is_noticed_and_made_good() {
    enqueue(NewJob.of("served", 1).withResources("a"));
    Lease first = claimAny(1).getFirst();
    UUID id = enqueue(NewJob.of("served", 1).withResources("a", "b"));
    assertThat(claimAny(1)).isEmpty();
    tenant.execute(
        "INSERT INTO {schema}.reservation VALUES ('a', '%s', true, now())".formatted(id));
    succeed(first);
    assertThat(claimAny(1)).isEmpty();
    assertThat(tenant.invariants().check()).extracting(Violation::id).containsExactly("I14");

    reap();

    assertThat(ids(claimAny(1))).containsExactly(id);
    assertThat(tenant.invariants().check()).isEmpty();
  }

  @Test
  void room_that_a_blocked_job_waited_for_too_long_goes_to_the_next_in_line() {
    enqueue(NewJob.of("holds", 1).withResources("b"));
    Lease first = claimKind("holds", 1).getFirst();
    enqueue(NewJob.of("blocked", 1).withResources("b").withTarget("u"));
    assertThat(claimAny(1)).isEmpty();
    tenant.advance(Duration.ofSeconds(61));
    enqueue(NewJob.of("holds", 1).withPriority(-1).withResources("b"));
    succeed(first);
    Lease second = claimAny(2).getFirst(); // and the other one insists on b from now on
    UUID paused = enqueue(NewJob.of("paused", 1).withTarget("u"));
    tenant.acts().pause(paused, ADA);
    UUID next = enqueue(NewJob.of("next", 1).withResources("b"));
    assertThat(claimKind("next", 1)).isEmpty();

    succeed(second);

    assertThat(ids(claimKind("next", 1))).containsExactly(next);
  }

  /** A job that needs a and b, has waited too long for b, and has a kept for it. */
  private UUID impatient(NewJob job) {
    enqueue(NewJob.of("served", 1).withResources("b"));
    Lease first = claimAny(1).getFirst();
    UUID id = enqueue(job.withResources("a", "b"));
    assertThat(claimAny(1)).isEmpty();
    tenant.advance(Duration.ofSeconds(61));
    enqueue(NewJob.of("served", 1).withPriority(-1).withResources("b"));
    succeed(first);
    Lease second = claimAny(2).getFirst();
    assertThat(second.key().jobId()).isNotEqualTo(id);
    succeed(second);
    return id;
  }

  private List<Lease> claimAny(int limit) {
    return leases().claim(ClaimRequest.of("worker", Set.of("default", "paused"), limit)).leases();
  }

  private List<Lease> claimForHours(String kind) {
    List<Lease> got = new ArrayList<>();
    for (int i = 0; i < 3; i++) {
      got.addAll(claimKind(kind, 10));
      tenant.advance(Duration.ofHours(1));
      reap();
    }
    return got;
  }
}
