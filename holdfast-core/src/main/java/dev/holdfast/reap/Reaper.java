package dev.holdfast.reap;

import dev.holdfast.fleet.Predecessors;
import dev.holdfast.hold.Holds;
import dev.holdfast.hold.ResourcePruner;
import dev.holdfast.lease.Consequences;
import dev.holdfast.retention.HistoryPruner;
import dev.holdfast.retention.Retention;
import dev.holdfast.slot.Slots;
import dev.holdfast.tenant.Db;
import dev.holdfast.tenant.SqlErrors;
import dev.holdfast.tenant.Tenant;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.function.IntSupplier;
import java.util.random.RandomGenerator;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Ends attempts in place of workers that fell silent, or that let them run too long, and passes on
 * what they held once the work must be over. Also wakes parked jobs, should a wake-up ever be
 * missing, and prunes history. Runs on every node; rows that another reaper has locked are skipped.
 */
public final class Reaper {

  private static final Logger log = LoggerFactory.getLogger(Reaper.class);

  private static final int NAMES_AT_ONCE = 500;

  // The shortest pause: a frozen transaction may have the lock of what is to pass on, for seconds.
  private static final Duration SOON = Duration.ofMillis(100);

  // With a run every five seconds, a sweep every minute and a pruning of resources every ten.
  static final int RUNS_PER_SWEEP = 12;
  private static final int SWEEPS_PER_PRUNING = 10;

  private final Db db;
  private final OverdueAttempts overdue;
  private final Holds holds;
  private final ResourcePruner pruner;
  private final HistoryPruner history;
  private final Slots slots;
  private final Consequences consequences;
  private final String look;
  private long runs;
  private long sweeps;
  private String lookedAfter = ""; // the last resource whose waiting jobs were looked after
  private Optional<Duration> untilPassing = Optional.empty();

  public Reaper(Tenant tenant, RandomGenerator dice, Consequences consequences) {
    this(tenant, dice, consequences, Retention.DEFAULTS);
  }

  public Reaper(
      Tenant tenant, RandomGenerator dice, Consequences consequences, Retention retention) {
    Db db = tenant.db();
    this.db = db;
    this.overdue = new OverdueAttempts(tenant, dice, consequences);
    this.holds = new Holds(db);
    this.pruner = new ResourcePruner(db);
    this.history = new HistoryPruner(db, retention);
    this.slots = new Slots(db);
    this.consequences = consequences;
    this.look = db.sql(Outlook.LOOK);
  }

  /**
   * Ends overdue attempts until there are none; returns how many. Assumes that workers could reach
   * the database all the time.
   */
  public int runOnce() {
    return runAfter(Downtime.NONE);
  }

  /** Like {@link #runOnce()}, when workers could not always reach the database. */
  public int runAfter(Downtime downtime) {
    int ended = runOnce(look(), downtime);
    if (++runs % RUNS_PER_SWEEP == 0) {
      sweep();
    }
    return ended;
  }

  /**
   * The same for a caller that asked for the outlooks of many tenants at once, and calls {@link
   * #sweep} itself.
   */
  int runOnce(Outlook first, Downtime downtime) {
    Outlook outlook = first;
    int ended =
        outlook.overdue() ? tried("end overdue attempts", () -> overdue.endOverdue(downtime)) : 0;
    if (ended > 0) {
      outlook = look(); // what they held passes on, perhaps at once
    }
    untilPassing = outlook.untilPassing();
    int woken = 0;
    if (outlook.somethingPasses()) {
      woken += tried("pass on resources", () -> db.inTransaction(holds::passOn));
    }
    if (outlook.waiting()) {
      woken += tried("look after waiting jobs", this::lookAfterWaiting);
    }
    if (ended + woken > 0) {
      consequences.woken();
    }
    return ended;
  }

  /** Does what is not urgent. */
  void sweep() {
    tried("end scheduled runs that nobody else would", slots::endOrphans);
    tried("prune the history", history::prune);
    if (++sweeps % SWEEPS_PER_PRUNING == 0) {
      tried("prune resources", () -> db.inTransaction(pruner::prune));
    }
  }

  /**
   * Ends the attempts of dead workers, without waiting for their leases. What they held still
   * passes on only when the work must be over: a process that they started may have survived them.
   */
  public int endOf(Predecessors.Gone gone) {
    int ended = overdue.endOf(gone.dead(), gone.asOf());
    if (ended > 0) {
      log.warn("Ended {} attempts of workers that are dead: {}", ended, gone.dead());
      consequences.woken();
    }
    return ended;
  }

  // A failure in one duty must not keep the reaper from the others.
  static int tried(String duty, IntSupplier work) {
    try {
      return work.getAsInt();
    } catch (RuntimeException e) {
      if (SqlErrors.isTenantGone(e) || SqlErrors.isPassing(e)) {
        throw e;
      }
      log.warn("Could not {}", duty, e);
      return 0;
    }
  }

  /** How long to wait until the next run, at most {@code period}. */
  public Duration untilNext(Duration period) {
    return untilPassing
        .filter(soon -> soon.compareTo(period) < 0)
        .map(soon -> soon.compareTo(SOON) < 0 ? SOON : soon)
        .orElse(period);
  }

  private Outlook look() {
    return db.withHandle(handle -> Outlook.bind(handle.createQuery(look)).map(Outlook::read).one());
  }

  private int lookAfterWaiting() {
    List<String> names =
        db.withHandle(handle -> holds.waiting().waitedFor(handle, lookedAfter, NAMES_AT_ONCE));
    lookedAfter = names.size() < NAMES_AT_ONCE ? "" : names.getLast();
    if (names.isEmpty()) {
      return 0;
    }
    return db.inTransaction(handle -> {
      holds.make(handle, names); // a job waits for it, so there must be a row to lock
      return holds.waiting().wakeForgotten(handle, holds.lockFree(handle, names));
    });
  }
}
