package dev.holdfast.hold;

import static org.assertj.core.api.Assertions.assertThat;

import dev.holdfast.job.NewJob;
import dev.holdfast.lease.ClaimRequest;
import dev.holdfast.lease.Consequences;
import dev.holdfast.lease.LanePositions;
import dev.holdfast.lease.Lease;
import dev.holdfast.lease.PgLeases;
import dev.holdfast.lease.TransitionHook;
import dev.holdfast.rig.Waits;
import dev.holdfast.tenant.Db;
import dev.holdfast.testkit.TestTenant;
import java.sql.PreparedStatement;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

/** Claims with an id in an application that has a transition hook. */
class HookedClaimsTest {

  @RegisterExtension final TestTenant tenant = new TestTenant();

  @BeforeEach
  void theApplicationCountsInARowOfItsOwn() {
    tenant.execute("CREATE TABLE {schema}.starts (jobs integer NOT NULL)");
    tenant.execute("INSERT INTO {schema}.starts VALUES (0)");
    tenant.jobs().enqueue(NewJob.of("one", 1));
    tenant.jobs().enqueue(NewJob.of("other", 1));
  }

  @Test
  void two_claims_under_one_id_do_not_wait_for_each_other_alone_or_shared() throws Exception {
    PgLeases leases = leases();
    Db db = tenant.tenant().db();
    try (ExecutorService threads = Executors.newCachedThreadPool()) {
      Future<List<Lease>> alone;
      Future<List<Optional<List<Lease>>>> shared;
      try (var application = db.jdbi().open()) {
        application.begin();
        application.execute(db.sql("SELECT FROM {schema}.starts FOR UPDATE"));
        alone = threads.submit(() -> leases.claim(request("one")).leases());
        Waits.untilSomebodyWaitsFor(application);
        shared =
            threads.submit(() -> leases.remote().claimForAll(List.of(request("other"))).hands());
        Waits.untilTwoWaitBehind(application);
        application.rollback();
      }

      Lease granted = alone.get().getFirst();
      List<Lease> again = shared.get().getFirst().orElseThrow();
      assertThat(again).extracting(Lease::key).containsExactly(granted.key());
    }
    assertThat(tenant.query("SELECT jobs FROM {schema}.starts").getFirst()).containsValue(1);
  }

  private static ClaimRequest request(String kind) {
    return ClaimRequest.of("worker", Set.of("default"), 1)
        .withKinds(Set.of(kind))
        .withClaimId("the same");
  }

  private PgLeases leases() {
    String count = tenant.tenant().db().sql("UPDATE {schema}.starts SET jobs = jobs + 1");
    TransitionHook hook =
        (connection, moved) -> {
          try (PreparedStatement update = connection.prepareStatement(count)) {
            update.execute();
          }
        };
    return new PgLeases(
        tenant.tenant(),
        Set::of,
        new LanePositions(System::nanoTime),
        () -> 0,
        Consequences.of(() -> {}, hook));
  }
}
