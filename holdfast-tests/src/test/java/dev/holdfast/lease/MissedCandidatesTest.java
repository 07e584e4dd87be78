package dev.holdfast.lease;

import static org.assertj.core.api.Assertions.assertThat;

import dev.holdfast.hold.EngineRig;
import dev.holdfast.job.NewJob;
import dev.holdfast.queue.QueueSettings;
import dev.holdfast.testkit.Covers;
import java.time.Duration;
import java.util.Set;
import java.util.UUID;
import org.jdbi.v3.core.Handle;
import org.junit.jupiter.api.Test;

/** Two claims want the same jobs. The slower one does not idle for it until the next poll. */
class MissedCandidatesTest extends EngineRig {

  private static final Duration LONG_BEFORE_THE_NEXT_POLL = Duration.ofMillis(200);
  private static final ClaimRequest REQUEST = ClaimRequest.of("worker", Set.of("default"), 1);

  @Test
  void whoever_misses_a_job_with_resources_looks_again_at_once() {
    UUID first = enqueue(NewJob.of("deploy", 1).withResources("site:1"));

    try (Handle other = somebodyElse()) {
      other.execute(sql("SELECT FROM {schema}.job WHERE id = ? FOR UPDATE"), first);
      Claimed claimed = leases().claim(REQUEST);

      assertThat(claimed.leases()).isEmpty();
      assertLooksAgainSoon(claimed);
      other.rollback();
    }
  }

  @Covers("A5")
  @Test
  void whoever_misses_a_place_in_a_queue_looks_again_at_once() {
    tenant.queues().put("default", QueueSettings.DEFAULTS.withConcurrencyLimit(10));
    UUID job = enqueue(NewJob.of("email", 1));

    try (Handle other = somebodyElse()) {
      other.execute(sql("SELECT FROM {schema}.queue WHERE name = 'default' FOR UPDATE"));
      Claimed claimed = leases().claim(REQUEST);

      assertThat(claimed.leases()).isEmpty();
      assertLooksAgainSoon(claimed);
      other.rollback();
    }
    assertThat(next()).contains(job);
  }

  @Test
  void a_queue_that_is_full_is_no_reason_to_look_again() {
    tenant.queues().put("default", QueueSettings.DEFAULTS.withConcurrencyLimit(1));
    enqueue(NewJob.of("email", 1));
    enqueue(NewJob.of("email", 2));
    assertThat(next()).isPresent();

    Claimed claimed = leases().claim(REQUEST);

    assertThat(claimed.leases()).isEmpty();
    assertThat(claimed.nextDueIn()).isEmpty();
  }

  private static void assertLooksAgainSoon(Claimed claimed) {
    assertThat(claimed.nextDueIn().orElseThrow()).isLessThan(LONG_BEFORE_THE_NEXT_POLL);
  }

  private Handle somebodyElse() {
    Handle handle = tenant.tenant().db().jdbi().open();
    handle.begin();
    return handle;
  }

  private String sql(String statement) {
    return tenant.tenant().db().sql(statement);
  }
}
