package dev.holdfast.schedule;

import dev.holdfast.audit.Act;
import dev.holdfast.audit.Audit;
import dev.holdfast.codec.Codec;
import dev.holdfast.error.ErrorCode;
import dev.holdfast.error.HoldfastException;
import dev.holdfast.hold.Resources;
import dev.holdfast.job.Limits;
import dev.holdfast.job.Needs;
import dev.holdfast.job.When;
import dev.holdfast.queue.Jobs;
import dev.holdfast.schedule.Definitions.Ready;
import dev.holdfast.schedule.Due.Times;
import dev.holdfast.slot.Slot;
import dev.holdfast.slot.SlotStatus;
import dev.holdfast.slot.Slots;
import dev.holdfast.slot.Slots.Skipped;
import dev.holdfast.tenant.Db;
import dev.holdfast.tenant.Portion;
import dev.holdfast.tenant.Tenant;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.List;
import java.util.Optional;
import java.util.UUID;
import java.util.function.Function;
import org.jdbi.v3.core.Handle;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The schedules of one tenant, as people and applications see them. Changing, previewing or
 * triggering a schedule that does not exist throws {@code NOT_FOUND}. Thread-safe.
 */
public final class Schedules {

  private static final Logger log = LoggerFactory.getLogger(Schedules.class);

  private static final int MOST_PREVIEWED = 1_000;
  private static final int SLOTS_AT_ONCE = 1_000;
  private static final Instant END_OF_TIME = Instant.parse("9999-12-31T00:00:00Z");

  private final Db db;
  private final Resources resources;
  private final Audit audit;
  private final Definitions definitions;
  private final Slots slots;
  private final Missed missed;
  private final Firing firing;

  public Schedules(Tenant tenant, Codec codec, Jobs jobs, Resources resources) {
    this.db = tenant.db();
    this.resources = resources;
    this.audit = new Audit(db);
    this.definitions = new Definitions(db, codec);
    this.slots = new Slots(db);
    this.missed = new Missed(db);
    this.firing = new Firing(slots, jobs);
  }

  /**
   * Creates the schedule, or replaces the one of the same name.
   *
   * @throws HoldfastException with {@code INVALID_ARGUMENT} if it is never due
   */
  public Planned put(Schedule schedule, Act act) {
    store(schedule.name(), old -> schedule, Optional.empty(), act);
    return get(schedule.name()).orElseThrow(() -> noSuch(schedule.name()));
  }

  /**
   * Stores the schedules that an application's code declares, and disables those that it declared
   * before and no longer does. Schedules of other applications, and those that people made, are
   * left alone. A schedule that an operator disabled stays disabled.
   */
  public void declare(String application, List<Schedule> schedules) {
    Act act = Act.by(application);
    schedules.forEach(
        schedule -> store(schedule.name(), old -> schedule, Optional.of(application), act));
    List<String> names = schedules.stream().map(Schedule::name).toList();
    definitions
        .declaredBy(application, names)
        .forEach(name ->
            db.useTransaction(handle -> {
              closeDue(handle, definitions.lock(handle, name), "is no longer declared");
              definitions.undeclare(handle, name);
              record(handle, act, "disable_schedule", name, name);
              log.warn("Schedule {} is disabled: {} no longer declares it", name, application);
            }));
  }

  private void store(
      String name, Function<Optional<Ready>, Schedule> change, Optional<String> by, Act act) {
    int woken =
        db.inTransaction(handle -> {
          Optional<Ready> old = definitions.lock(handle, name);
          Schedule schedule = change.apply(old);
          Instant first =
              schedule
                  .trigger()
                  .after(definitions.now(handle))
                  .orElseThrow(() ->
                      HoldfastException.invalid(
                          "cron", schedule.trigger(), "a time that ever comes"));
          closeDue(
              handle,
              old.filter(before ->
                  !schedule.enabled() || !before.schedule().trigger().equals(schedule.trigger())),
              "was changed");
          String before = definitions.described(handle, name);
          definitions.put(handle, schedule, by, first);
          String after = definitions.described(handle, name);
          if (!after.equals(before)) {
            audit.write(handle, act, "put_schedule", schedule.resource(), before, after);
          }
          return resources.ensureCapacity(
              handle, schedule.resource(), schedule.maxInstances(), act);
        });
    resources.announce(woken);
  }

  // Closes slots that were due before the schedule was changed. They do not run: this process may
  // have no scheduler, and the point of the change may be to stop them.
  private void closeDue(Handle handle, Optional<Ready> old, String change) {
    Optional<Instant> first = old.flatMap(Ready::first);
    while (first.isPresent() && !first.get().isAfter(old.orElseThrow().now())) {
      Ready ready = old.orElseThrow();
      Schedule schedule = ready.schedule();
      Times due = Times.of(schedule.trigger(), first.get(), ready.now(), SLOTS_AT_ONCE);
      String reason = "the schedule %s before it was decided".formatted(change);
      missed.skip(
          handle,
          schedule.name(),
          due.slots().stream()
              .map(slot -> new Skipped(slot, SlotStatus.SKIPPED_MISFIRE, reason))
              .toList());
      first = due.next();
    }
  }

  public Optional<Planned> get(String name) {
    Limits.name("name", name);
    return definitions.get(name);
  }

  /**
   * Lists schedules in the order of their names.
   *
   * @param after the name after which the list begins; empty for all
   */
  public Portion<Planned> list(String after, int limit) {
    Limits.page("limit", limit);
    return definitions.list(after, limit);
  }

  /** Enables or disables the schedule, and changes nothing else. */
  public Planned enable(String name, boolean enabled, Act act) {
    Limits.name("name", name);
    store(
        name,
        old -> old.orElseThrow(() -> noSuch(name)).schedule().withEnabled(enabled),
        Optional.empty(),
        act);
    return get(name).orElseThrow(() -> noSuch(name));
  }

  /** Deletes the schedule. The record of its slots is kept. */
  public void delete(String name, Act act) {
    Limits.name("name", name);
    db.useTransaction(handle -> {
      Ready old = definitions.lock(handle, name).orElseThrow(() -> noSuch(name));
      closeDue(handle, Optional.of(old), "was deleted");
      definitions.delete(handle, name);
      record(handle, act, "delete_schedule", name, "");
    });
  }

  /**
   * The next times at which the schedule is due, also while it is disabled.
   *
   * @param from the first moment that counts; empty is now
   */
  public List<Instant> next(String name, int count, Optional<Instant> from) {
    if (count < 1 || count > MOST_PREVIEWED) {
      throw HoldfastException.invalid("count", count, "1 to " + MOST_PREVIEWED);
    }
    from.ifPresent(moment -> Limits.moment("from", moment));
    Planned planned = get(name).orElseThrow(() -> noSuch(name));
    // What is due this very moment is not among the next.
    return planned.times(from.orElseGet(() -> db.withHandle(definitions::now).plusNanos(1)), count);
  }

  /**
   * What became of the schedule's slots, newest first.
   *
   * @param before only slots before this moment
   */
  public List<Slot> slots(String name, Optional<Instant> before, int limit) {
    Limits.name("name", name);
    Limits.page("limit", limit);
    before.ifPresent(moment -> Limits.moment("before", moment));
    return slots.latest(name, before.orElse(END_OF_TIME), limit);
  }

  /**
   * Runs the schedule now, for one slot. The same rules apply as for any other slot: it runs once,
   * and only if fewer than {@code maxInstances} runs have not ended.
   *
   * @param scheduledFor the slot, to the second; empty is now
   * @return the id of the slot's job
   * @throws HoldfastException with {@code STATE_CONFLICT} if the slot is taken or too many runs
   *     have not ended
   */
  public UUID trigger(String name, Optional<Instant> scheduledFor, Act act) {
    scheduledFor.ifPresent(moment -> Limits.moment("scheduled_for", moment));
    return firing.retryIfRecreated(() -> {
      firing.prepare(get(name).orElseThrow(() -> noSuch(name)).schedule());
      return db.inTransaction(handle -> trigger(handle, name, scheduledFor, act));
    });
  }

  private UUID trigger(Handle handle, String name, Optional<Instant> scheduledFor, Act act) {
    Ready ready = definitions.lock(handle, name).orElseThrow(() -> noSuch(name));
    Schedule schedule = ready.schedule();
    Instant slot = scheduledFor.orElse(ready.now()).truncatedTo(ChronoUnit.SECONDS);
    missed.giveUp(handle, schedule);
    int open = slots.open(handle, name);
    if (open >= schedule.maxInstances()) {
      throw conflict(
          "schedule %s: %d of at most %d runs are not over"
              .formatted(name, open, schedule.maxInstances()));
    }
    UUID job =
        firing
            .fire(handle, schedule, slot, When.NOW)
            .orElseThrow(
                () -> conflict("slot %s of schedule %s is already claimed".formatted(slot, name)));
    record(handle, act, "trigger", name, "slot %s, job %s".formatted(slot, job));
    return job;
  }

  private void record(Handle handle, Act act, String what, String schedule, String after) {
    audit.write(handle, act, what, Needs.resourceOfSchedule(schedule), schedule, after);
  }

  private static HoldfastException conflict(String words) {
    return new HoldfastException(ErrorCode.STATE_CONFLICT, words);
  }

  private static HoldfastException noSuch(String name) {
    return new HoldfastException(ErrorCode.NOT_FOUND, "no schedule " + name);
  }
}
