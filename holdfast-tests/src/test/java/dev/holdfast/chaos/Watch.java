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
import java.util.function.IntSupplier;

/**
 * Looks at the invariants, at how many jobs there are, at who is parked and at the count of
 * deadlocks, all the time. One thread looks; others may ask afterwards.
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
  private final IntSupplier acknowledged;
  private final List<String> missing = new ArrayList<>();
  private final ResetCount deadlocks = new ResetCount();
  private long nextCheck = System.nanoTime();
  private int checks;

  // At one moment: a job is in one of the two. Holdfast prunes nothing as young as a run.
  private static final String JOBS =
      """
      SELECT (SELECT count(*) FROM {schema}.job) + (SELECT count(*) FROM {schema}.job_done)
      """;

  /**
   * Watches.
   *
   * @param acknowledged how many jobs Holdfast said that it has
   */
  Watch(Holdfast holdfast, IntSupplier acknowledged) {
    this.holdfast = holdfast;
    this.acknowledged = acknowledged;
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
    countJobs();
    broken.addAll(holdfast.invariants().check());
    checks++;
  }

  // There are more than those: of slots, and of batches whose answer nobody has heard yet.
  private void countJobs() {
    int before = acknowledged.getAsInt();
    long there = count(JOBS);
    if (there < before) {
      missing.add("%d jobs are live or finished of %d acknowledged".formatted(there, before));
    }
  }

  private long count(String sql) {
    return db.withHandle(handle -> handle.createQuery(db.sql(sql)).mapTo(Long.class).one());
  }

  long live() {
    return count("SELECT count(*) FROM {schema}.job");
  }

  /** No job is left, and none stands on its target. */
  boolean hasDrained() {
    return live() == 0 && holdfast.resources().blocksOlderThan(Duration.ZERO).isEmpty();
  }

  /** Invariants that did not hold, at any of the many looks taken. */
  List<Violation> broken() {
    return broken;
  }

  /** Where there were fewer jobs, live and finished, than Holdfast had acknowledged before. */
  List<String> missing() {
    return missing;
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
