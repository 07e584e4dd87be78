package dev.holdfast.schedule;

import dev.holdfast.queue.Jobs;
import dev.holdfast.slot.SlotStatus;
import dev.holdfast.slot.Slots;
import dev.holdfast.tenant.Columns;
import dev.holdfast.tenant.Db;
import dev.holdfast.tenant.Tenant;
import java.time.Duration;
import java.time.Instant;
import java.time.ZoneOffset;
import java.util.List;
import java.util.Optional;
import org.jdbi.v3.core.Handle;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Decides about the slots of one tenant that are due, by the database's clock. Any number of nodes
 * may do so at once: a schedule that another is at is stepped over, and a slot is a row that only
 * one of them can insert.
 */
public final class Ticker {

  private static final Logger log = LoggerFactory.getLogger(Ticker.class);

  private static final int SCHEDULES_AT_ONCE = 100;
  private static final int SLOTS_AT_ONCE = 1_000;

  private static final String DUE =
      """
      SELECT name
        FROM {schema}.schedule
       WHERE next_at <= {schema}.clock()
       ORDER BY next_at, name
       LIMIT :limit
      """;

  private static final String LOCK =
      """
      SELECT {columns}, next_at, {schema}.clock() AS now
        FROM {schema}.schedule
       WHERE name = :name AND next_at <= {schema}.clock()
         FOR UPDATE SKIP LOCKED
      """;

  private static final String MOVE_ON =
      """
      UPDATE {schema}.schedule SET next_at = :next_at, enabled = :enabled WHERE name = :name
      """;

  private static final String UNTIL_NEXT =
      """
      SELECT extract(epoch FROM min(next_at) - {schema}.clock()) * 1000 AS wait_ms
        FROM {schema}.schedule
       WHERE next_at IS NOT NULL
      """;

  private record Ready(Schedule schedule, Instant first, Instant now) {}

  private final Db db;
  private final Slots slots;
  private final Firing firing;
  private final String due;
  private final String lock;
  private final String moveOn;
  private final String untilNext;

  public Ticker(Tenant tenant, Jobs jobs) {
    this.db = tenant.db();
    this.slots = new Slots(db);
    this.firing = new Firing(slots, jobs);
    this.due = db.sql(DUE);
    this.lock = db.sql(LOCK.replace("{columns}", ScheduleRow.COLUMNS));
    this.moveOn = db.sql(MOVE_ON);
    this.untilNext = db.sql(UNTIL_NEXT);
  }

  /** Decides about all slots that are due; answers about how many. */
  public int tick() {
    int total = 0;
    int decided;
    do { // those of a long outage come in portions
      decided = db.withHandle(this::due).stream().mapToInt(this::tried).sum();
      total += decided;
    } while (decided > 0);
    return total;
  }

  private List<String> due(Handle handle) {
    return handle.createQuery(due).bind("limit", SCHEDULES_AT_ONCE).mapTo(String.class).list();
  }

  /** How long until something is due; empty when nothing ever is. */
  public Optional<Duration> untilNext() {
    return db.withHandle(handle ->
        handle
            .createQuery(untilNext)
            .map((row, context) -> Columns.optionalWait(row, "wait_ms"))
            .one());
  }

  // What is wrong with one schedule must not keep the others from their slots.
  private int tried(String name) {
    try {
      return db.inTransaction(handle -> decide(handle, name));
    } catch (RuntimeException e) {
      log.warn("Could not decide about the slots of schedule {}", name, e);
      return 0;
    }
  }

  private int decide(Handle handle, String name) {
    Optional<Ready> found =
        handle
            .createQuery(lock)
            .bind("name", name)
            .map((row, context) ->
                new Ready(
                    ScheduleRow.read(row),
                    Columns.instant(row, "next_at"),
                    Columns.instant(row, "now")))
            .findOne();
    return found.map(ready -> decide(handle, ready)).orElse(0);
  }

  private int decide(Handle handle, Ready ready) {
    Schedule schedule = ready.schedule;
    int givenUp = slots.giveUp(handle, schedule.name(), schedule.longestRun());
    if (givenUp > 0) {
      log.warn("Gave up {} runs of schedule {} that took too long", givenUp, schedule.name());
    }
    int open = slots.open(handle, schedule.name());
    Due decided = Due.of(schedule, ready.first, ready.now, open, SLOTS_AT_ONCE);
    decided.decisions().forEach(decision -> carryOut(handle, schedule, decision));
    handle
        .createUpdate(moveOn)
        .bind("name", schedule.name())
        .bind("next_at", decided.next().map(next -> next.atOffset(ZoneOffset.UTC)).orElse(null))
        .bind("enabled", decided.next().isPresent())
        .execute();
    return decided.decisions().size();
  }

  private void carryOut(Handle handle, Schedule schedule, Due.Decision decision) {
    Instant slot = decision.scheduledFor();
    if (decision.status() == SlotStatus.QUEUED) {
      boolean fired = firing.fire(handle, schedule, slot).isPresent();
      log.debug("Slot {} of schedule {} {}", slot, schedule.name(), fired ? "fired" : "was taken");
      return;
    }
    slots.take(
        handle, schedule.name(), slot, decision.status(), decision.reason(), Optional.empty());
    log.info(
        "Slot {} of schedule {} is {}: {}",
        slot,
        schedule.name(),
        decision.status().stored(),
        decision.reason().orElse(""));
  }
}
