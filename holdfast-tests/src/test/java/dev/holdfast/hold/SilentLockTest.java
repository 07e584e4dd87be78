package dev.holdfast.hold;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.catchThrowable;

import dev.holdfast.job.JobState;
import dev.holdfast.job.NewJob;
import dev.holdfast.lease.ClaimRequest;
import dev.holdfast.lease.Claimed;
import dev.holdfast.reap.Reaper;
import dev.holdfast.rig.Waits;
import dev.holdfast.tenant.Db;
import dev.holdfast.tenant.SqlErrors;
import java.time.Duration;
import java.util.List;
import java.util.Set;
import java.util.UUID;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import org.jdbi.v3.core.Handle;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** A process is frozen, or cut off, while it has a lock. */
class SilentLockTest extends EngineRig {

  private static final List<String> SITE = List.of("site:1");

  private Holds holds;
  private Db db;
  private Handle frozen;

  @BeforeEach
  void freeze() {
    db = tenant.tenant().db();
    holds = new Holds(db);
    db.jdbi().useHandle(handle -> holds.make(handle, SITE));
    frozen = db.jdbi().open();
    frozen.begin();
    Db.continueAsOurs(frozen);
    holds.lock(frozen, SITE);
  }

  @AfterEach
  void close() {
    var unused = catchThrowable(frozen::close); // there may be nothing to roll back any more
  }

  @Test
  void it_keeps_others_from_the_resource_for_seconds_only() {
    Set<String> locked = db.jdbi().inTransaction(handle -> holds.lock(handle, SITE));

    assertThat(locked).containsExactlyElementsOf(SITE);
    Throwable woken = catchThrowable(() -> frozen.execute("SELECT 1"));
    assertThat(SqlErrors.isPassing(woken)).as("%s", woken).isTrue();
  }

  @Test
  void jobs_that_do_not_need_the_resource_are_claimed_without_waiting_for_it() {
    UUID guarded = enqueue(NewJob.of("deploy", 1).withResources(SITE));
    UUID free = enqueue(NewJob.of("email", 1));

    assertThat(ids(claim(10))).containsExactly(free);

    frozen.rollback();
    assertThat(next()).contains(guarded);
  }

  @Test
  void nor_do_claims_wait_whose_answers_can_be_asked_for_again() {
    UUID guarded = enqueue(NewJob.of("deploy", 1).withResources(SITE));
    UUID free = enqueue(NewJob.of("email", 1));
    ClaimRequest request = ClaimRequest.of("worker", Set.of("default"), 10);

    Claimed claimed = leases().claim(request.withClaimId("first"));
    assertThat(ids(claimed.leases())).containsExactly(free);
    assertThat(claimed.nextDueIn()).as("it looks again soon").isPresent();

    frozen.rollback();
    assertThat(ids(leases().claim(request.withClaimId("second")).leases()))
        .containsExactly(guarded);
  }

  @Test
  void nor_do_claims_wait_for_a_resource_that_is_being_made() {
    frozen.rollback();
    freezeAfter(() -> holds.make(frozen, List.of("site:new")));
    UUID guarded = enqueue(NewJob.of("deploy", 1).withResources("site:new"));
    UUID free = enqueue(NewJob.of("email", 1));

    assertThat(ids(claim(10))).containsExactly(free);

    frozen.rollback();
    assertThat(next()).contains(guarded);
  }

  @Test
  void the_reaper_ends_attempts_that_do_not_need_the_resource_without_waiting_for_it() {
    frozen.rollback();
    UUID stuck = enqueue(NewJob.of("deploy", 1).withResources(SITE));
    UUID beside = enqueue(NewJob.of("deploy", 2).withResources("site:2"));
    assertThat(claim(2)).hasSize(2);
    tenant.advance(Duration.ofSeconds(31));
    freezeAfter(() -> holds.lock(frozen, SITE));

    reap();

    assertThat(tenant.job(beside).state()).isEqualTo(JobState.QUEUED);
    assertThat(tenant.job(stuck).state()).isEqualTo(JobState.RUNNING);
    frozen.rollback();
    reap();
    assertThat(tenant.job(stuck).state()).isEqualTo(JobState.QUEUED);
  }

  private void freezeAfter(Runnable locking) {
    frozen.begin();
    Db.continueAsOurs(frozen);
    locking.run();
  }

  @Test
  void the_reaper_waits_a_moment_for_a_resource_that_somebody_has_who_is_not_frozen()
      throws Exception {
    frozen.rollback();
    UUID job = enqueue(NewJob.of("deploy", 1).withResources(SITE));
    assertThat(claim(1)).hasSize(1);
    tenant.advance(Duration.ofSeconds(31));
    Reaper reaper = new Reaper(tenant.tenant(), () -> 0, () -> {});
    try (ExecutorService process = Executors.newSingleThreadExecutor()) {
      int ended = 0;
      // Should it take longer than the reaper waits to see that it does, once more.
      for (int tries = 0; ended == 0 && tries < 20; tries++) {
        freezeAfter(() -> holds.lock(frozen, SITE));
        Future<Integer> reaping = process.submit(reaper::runOnce);
        Waits.untilSomebodyWaitsFor(frozen, reaping::isDone);
        frozen.rollback();
        ended = reaping.get(1, TimeUnit.MINUTES);
      }
      assertThat(ended).isEqualTo(1);
    }
    assertThat(tenant.job(job).state()).isEqualTo(JobState.QUEUED);
  }

  @Test
  void the_reaper_passes_on_what_is_free_and_comes_back_for_the_rest() {
    frozen.rollback();
    enqueue(NewJob.of("deploy", 1).withResources(SITE));
    enqueue(NewJob.of("deploy", 2).withResources("site:2"));
    assertThat(claim(2)).hasSize(2);
    tenant.advance(Duration.ofSeconds(31));
    reap();
    freezeAfter(() -> holds.lock(frozen, SITE));
    tenant.advance(Holds.KILL_GRACE.plusSeconds(1));

    reap();
    assertThat(tenant.resources().get("site:2").holders()).isEmpty();
    assertThat(tenant.resources().get("site:1").holders()).hasSize(1);
    frozen.rollback();
    reap();

    assertThat(tenant.resources().get("site:1").holders()).isEmpty();
  }

  @Test
  void no_transaction_of_ours_that_stands_still_keeps_others_from_a_job() throws Exception {
    UUID job = enqueue(NewJob.of("email", 1));
    CountDownLatch locked = new CountDownLatch(1);
    CountDownLatch woken = new CountDownLatch(1);
    try (ExecutorService process = Executors.newSingleThreadExecutor()) {
      Future<Integer> standing =
          process.submit(() ->
              db.inTransaction(handle -> {
                handle.execute(db.sql("SELECT FROM {schema}.job FOR UPDATE"));
                locked.countDown();
                woken.await();
                return handle.execute(db.sql("DELETE FROM {schema}.job"));
              }));
      locked.await();

      tenant.acts().cancel(job, ADA);
      woken.countDown();

      assertThat(standing).failsWithin(1, TimeUnit.MINUTES);
    }
    assertThat(tenant.jobs().get(job).orElseThrow().state()).isEqualTo(JobState.CANCELLED);
  }
}
