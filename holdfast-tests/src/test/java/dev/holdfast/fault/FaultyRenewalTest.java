package dev.holdfast.fault;

import static dev.holdfast.fault.Ground.job;
import static org.assertj.core.api.Assertions.assertThat;

import dev.holdfast.error.ErrorCode;
import dev.holdfast.error.HoldfastException;
import dev.holdfast.fault.Point.Kind;
import dev.holdfast.lease.ClaimRequest;
import dev.holdfast.lease.Lease;
import dev.holdfast.lease.LeaseKey;
import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.List;
import java.util.Optional;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

/**
 * A claim that is repeated while somebody else has one of its jobs locked: that one is renewed in a
 * transaction of its own, and every fault meets that.
 */
class FaultyRenewalTest {

  private static final ClaimRequest REQUEST = Ground.request().withClaimId("c");

  /** Lets go of the job when it is waited for, and has one thing go wrong there. */
  private static final class Waited implements Script {

    private final Connection other;
    private final Kind kind;
    private final Moment moment;
    private final Fault fault;
    private boolean isWaitedFor;
    private boolean hasStruck;

    private Waited(Connection other, Kind kind, Moment moment, Fault fault) {
      this.other = other;
      this.kind = kind;
      this.moment = moment;
      this.fault = fault;
    }

    @Override
    public Optional<Fault> at(int number, Point point, Moment when) {
      if (!isWaitedFor && renewsOne(point)) {
        isWaitedFor = true;
        letGo();
      }
      if (!isWaitedFor || hasStruck || point.kind() != kind || when != moment) {
        return Optional.empty();
      }
      hasStruck = true;
      return Optional.of(fault);
    }

    private static boolean renewsOne(Point point) {
      return point.sql().strip().startsWith("UPDATE") && point.sql().contains("greatest(lease_exp");
    }

    private void letGo() {
      try {
        other.rollback();
      } catch (SQLException e) {
        throw new IllegalStateException(e);
      }
    }
  }

  @Test
  void a_claim_that_is_asked_again_renews_what_was_locked_whatever_fails_meanwhile()
      throws Exception {
    try (Ground ground = new Ground();
        FaultyPool pool = FaultyPool.forThisThread(Ground.url())) {
      for (Kind kind : List.of(Kind.STATEMENT, Kind.COMMIT)) {
        for (Moment moment : Moment.values()) {
          for (Fault fault : faults(kind, moment)) {
            tryOut(ground, pool, kind, moment, fault);
          }
        }
      }
    }
  }

  private static List<Fault> faults(Kind kind, Moment moment) {
    Point point = new Point(kind, "", true);
    return Stream.of(Fault.values()).filter(fault -> point.allows(moment, fault)).toList();
  }

  private static void tryOut(Ground ground, FaultyPool pool, Kind kind, Moment moment, Fault fault)
      throws Exception {
    String what = "%s %s %s".formatted(fault, moment, kind);
    ground.empty();
    ground.enqueue(job("a"), job("b"));
    List<LeaseKey> granted = keys(ground.engine().leases().claim(REQUEST).leases());
    ground.later(5);
    try (Engine engine = ground.engine(pool.dataSource()).keepingAConnection();
        Connection other = lockedBySomebodyElse(ground)) {
      Waited script = new Waited(other, kind, moment, fault);
      pool.play(script);

      try {
        assertThat(keys(engine.leases().claim(REQUEST).leases())).as(what).isEqualTo(granted);
      } catch (HoldfastException e) {
        assertThat(e.code()).as(what).isEqualTo(ErrorCode.DATABASE);
      }

      pool.heal();
      assertThat(script.hasStruck).as(what).isTrue();
      assertThat(keys(engine.leases().claim(REQUEST).leases())).as(what).isEqualTo(granted);
      assertThat(ground.column("SELECT lease_expires_at - {schema}.clock() FROM {schema}.job"))
          .as(what)
          .containsExactly("00:00:30", "00:00:30");
      assertThat(ground.violations()).as(what).isEmpty();
    }
    assertThat(pool.complaints()).as(what).isEmpty();
    assertThat(pool.lent()).as(what).isZero();
  }

  private static Connection lockedBySomebodyElse(Ground ground) throws SQLException {
    Connection other = DriverManager.getConnection(Ground.url());
    other.setAutoCommit(false);
    try (Statement statement = other.createStatement()) {
      statement.execute(
          ground
              .engine()
              .sql(
                  "SELECT FROM {schema}.job WHERE id = '%s' FOR UPDATE".formatted(Ground.id("a"))));
    }
    return other;
  }

  private static List<LeaseKey> keys(List<Lease> leases) {
    return leases.stream().map(Lease::key).toList();
  }
}
