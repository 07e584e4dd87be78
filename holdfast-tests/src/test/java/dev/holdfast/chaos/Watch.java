package dev.holdfast.chaos;

import dev.holdfast.Holdfast;
import dev.holdfast.error.HoldfastException;
import dev.holdfast.invariant.Violation;
import dev.holdfast.tenant.Db;
import dev.holdfast.tenant.TenantName;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.UUID;

/**
 * Looks at the invariants, at who is parked and at the count of deadlocks, all the time. One thread
 * looks; others may ask afterwards.
 */
final class Watch {

  private static final Duration OFTEN = Duration.ofMillis(500);
  private static final Duration BETWEEN_CHECKS = Duration.ofSeconds(4);
  // Times as long as the check took, which reads the whole history.
  private static final int REST = 20;

  private final Holdfast holdfast;
  private final Db db;
  private final List<Violation> broken = new ArrayList<>();
  private final Set<UUID> parked = new HashSet<>();
  private final ResetCount deadlocks = new ResetCount();
  private long nextCheck = System.nanoTime();
  private int checks;

  Watch(Holdfast holdfast) {
    this.holdfast = holdfast;
    this.db = holdfast.tenants().open(TenantName.DEFAULT).db();
  }

  Duration look() {
    try {
      countDeadlocks();
      parked.addAll(
          db.withHandle(handle ->
              handle
                  .createQuery(db.sql("SELECT id FROM {schema}.job WHERE waiting_on IS NOT NULL"))
                  .mapTo(UUID.class)
                  .list()));
      long began = System.nanoTime();
      if (began - nextCheck >= 0) {
        lookClosely();
        long took = System.nanoTime() - began;
        nextCheck = began + Math.max(BETWEEN_CHECKS.toNanos(), REST * took);
      }
    } catch (HoldfastException e) {
      // The database is away.
    }
    return OFTEN;
  }

  void lookForTheLastTime() {
    countDeadlocks();
    lookClosely();
  }

  private void countDeadlocks() {
    deadlocks.sees(holdfast.invariants().deadlocks());
  }

  private void lookClosely() {
    broken.addAll(holdfast.invariants().check());
    checks++;
  }

  long live() {
    return db.withHandle(handle ->
        handle.createQuery(db.sql("SELECT count(*) FROM {schema}.job")).mapTo(Long.class).one());
  }

  /** No job is left, and none stands on its target. */
  boolean hasDrained() {
    return live() == 0 && holdfast.resources().blocksOlderThan(Duration.ZERO).isEmpty();
  }

  /** Invariants that did not hold, at any of the many looks taken. */
  List<Violation> broken() {
    return broken;
  }

  int checks() {
    return checks;
  }

  /** Jobs that were seen waiting for a resource; there were more. */
  int parked() {
    return parked.size();
  }

  /** By all looks: what was counted before a crash of the database, too. */
  long deadlocks() {
    return deadlocks.total();
  }
}
