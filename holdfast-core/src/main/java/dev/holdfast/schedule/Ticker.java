package dev.holdfast.schedule;

import dev.holdfast.codec.Codec;
import dev.holdfast.error.ErrorCode;
import dev.holdfast.error.HoldfastException;
import dev.holdfast.job.When;
import dev.holdfast.queue.Acts;
import dev.holdfast.queue.Jobs;
import dev.holdfast.schedule.Definitions.DueOne;
import dev.holdfast.schedule.Definitions.Ready;
import dev.holdfast.schedule.Due.Times;
import dev.holdfast.slot.Slots;
import dev.holdfast.tenant.Db;
import dev.holdfast.tenant.Tenant;
import java.time.Instant;
import java.util.List;
import java.util.UUID;
import org.jdbi.v3.core.Handle;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Decides about the due slots of one tenant, by the database's clock. Any number of nodes may do so
 * at once: a schedule that another node has locked is skipped, and a slot is a row that only one of
 * them can insert.
 */
public final class Ticker {

  private static final Logger log = LoggerFactory.getLogger(Ticker.class);

  private static final int SCHEDULES_AT_ONCE = 100;
  private static final int SLOTS_AT_ONCE = 1_000;

  /**
   * The result of a tick.
   *
   * @param decided how many slots were decided
   * @param more whether slots are left, because those of a long outage are decided in portions
   */
  public record Tick(int decided, boolean more) {}

  private static final Tick NOTHING = new Tick(0, false);

  private final Db db;
  private final Acts acts;
  private final Definitions definitions;
  private final Slots slots;
  private final Missed missed;
  private final Firing firing;

  public Ticker(Tenant tenant, Codec codec, Jobs jobs, Acts acts) {
    this.db = tenant.db();
    this.acts = acts;
    this.definitions = new Definitions(db, codec);
    this.slots = new Slots(db);
    this.missed = new Missed(db);
    this.firing = new Firing(slots, jobs);
  }

  /** Decides about the due slots, at most a portion per schedule. */
  public Tick tick() {
    int decided = 0;
    boolean more = false;
    List<DueOne> page;
    DueOne last = DueOne.FIRST;
    do {
      page = definitions.due(last, SCHEDULES_AT_ONCE);
      for (DueOne due : page) {
        Tick one = tried(due.name());
        decided += one.decided;
        more |= one.more;
        last = due;
      }
    } while (page.size() == SCHEDULES_AT_ONCE);
    return new Tick(decided, more);
  }

  // A schedule that fails must not keep the others from their slots.
  private Tick tried(String name) {
    try {
      return firing.retryIfRecreated(() -> {
        definitions.get(name).map(Planned::schedule).ifPresent(this::prepare);
        return db.inTransaction(handle ->
            definitions.lockDue(handle, name).map(ready -> decide(handle, ready)).orElse(NOTHING));
      });
    } catch (RuntimeException e) {
      log.warn("Could not decide about the slots of schedule {}", name, e);
      return NOTHING;
    }
  }

  private void prepare(Schedule schedule) {
    giveUpWaiting(schedule);
    firing.prepare(schedule);
  }

  // A job that no worker takes would keep all later slots from running, and would then still run,
  // however late.
  private void giveUpWaiting(Schedule schedule) {
    for (UUID job : slots.neverStarted(schedule.name(), schedule.misfireGrace())) {
      try {
        acts.expire(
            job,
            schedule.name(),
            "no worker began it within " + schedule.misfireGrace().toSeconds() + " s");
      } catch (HoldfastException e) {
        if (e.code() != ErrorCode.STATE_CONFLICT && e.code() != ErrorCode.NOT_FOUND) {
          throw e;
        }
        // It was begun, paused or deleted meanwhile.
      }
    }
  }

  private Tick decide(Handle handle, Ready ready) {
    Schedule schedule = ready.schedule();
    String name = schedule.name();
    missed.giveUp(handle, schedule);
    Instant now = ready.now();
    Times times = Times.of(schedule.trigger(), ready.first().orElseThrow(), now, SLOTS_AT_ONCE);
    Due due =
        Due.of(
            schedule,
            times,
            slots.taken(handle, name, times.slots()),
            now,
            slots.open(handle, name));
    due.fire().forEach(slot -> fire(handle, schedule, slot));
    missed.skip(handle, name, due.skip());
    definitions.moveOn(handle, name, due.next());
    return new Tick(times.slots().size(), times.hasMore(now));
  }

  private void fire(Handle handle, Schedule schedule, Instant slot) {
    boolean fired = firing.fire(handle, schedule, slot, new When.At(slot)).isPresent();
    log.debug("Slot {} of schedule {} {}", slot, schedule.name(), fired ? "fired" : "was taken");
  }
}
