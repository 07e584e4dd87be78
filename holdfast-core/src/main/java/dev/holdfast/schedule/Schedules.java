package dev.holdfast.schedule;

import dev.holdfast.audit.Act;
import dev.holdfast.audit.Audit;
import dev.holdfast.codec.Codec;
import dev.holdfast.error.ErrorCode;
import dev.holdfast.error.HoldfastException;
import dev.holdfast.hold.Resources;
import dev.holdfast.job.Limits;
import dev.holdfast.job.Needs;
import dev.holdfast.queue.Jobs;
import dev.holdfast.slot.Slot;
import dev.holdfast.slot.Slots;
import dev.holdfast.tenant.Columns;
import dev.holdfast.tenant.Db;
import dev.holdfast.tenant.Tenant;
import java.time.Instant;
import java.time.ZoneOffset;
import java.time.temporal.ChronoUnit;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.UUID;
import org.jdbi.v3.core.Handle;
import org.jdbi.v3.core.mapper.RowMapper;

/** The schedules of one tenant, as people and applications see them. Thread-safe. */
public final class Schedules {

  private static final int MOST_PREVIEWED = 1_000;

  private static final String NOW =
      """
      SELECT {schema}.clock() AS now
      """;

  // With the same trigger it goes on where it was: a slot that nobody has decided about yet must
  // not be forgotten because an application started and declared its schedules again.
  private static final String PUT =
      """
      INSERT INTO {schema}.schedule AS old ({columns}, declared, next_at)
      VALUES (:name, :cron, :every_ms, :timezone, :dst_twice, :dst_missing, :kind, :queue, :priority,
              :args::json, :policy::json, :resources, :coalesce, :misfire_grace_ms, :max_instances,
              :expected_runtime_ms, :enabled, :declared, :next_at)
      ON CONFLICT (name) DO UPDATE
         SET cron = excluded.cron, every_ms = excluded.every_ms, timezone = excluded.timezone,
             dst_twice = excluded.dst_twice, dst_missing = excluded.dst_missing,
             kind = excluded.kind, queue = excluded.queue, priority = excluded.priority,
             args = excluded.args, policy = excluded.policy, resources = excluded.resources,
             "coalesce" = excluded."coalesce", misfire_grace_ms = excluded.misfire_grace_ms,
             max_instances = excluded.max_instances,
             expected_runtime_ms = excluded.expected_runtime_ms, enabled = excluded.enabled,
             declared = excluded.declared, updated_at = {schema}.clock(),
             next_at = CASE WHEN excluded.enabled AND old.enabled
                             AND (old.cron, old.every_ms, old.timezone, old.dst_twice,
                                  old.dst_missing)
                                 IS NOT DISTINCT FROM
                                 (excluded.cron, excluded.every_ms, excluded.timezone,
                                  excluded.dst_twice, excluded.dst_missing)
                            THEN old.next_at
                            ELSE excluded.next_at
                        END
      """;

  // What an application declares at every start is an act only when it changes something.
  private static final String STORED =
      """
      SELECT (to_jsonb(schedule) - '{next_at,updated_at}'::text[])::text
        FROM {schema}.schedule
       WHERE name = :name
      """;

  private static final String GET =
      """
      SELECT {columns}, declared, next_at FROM {schema}.schedule WHERE name = :name
      """;

  private static final String LIST =
      """
      SELECT {columns}, declared, next_at
        FROM {schema}.schedule
       WHERE name > :after
       ORDER BY name
       LIMIT :limit
      """;

  private static final String LOCK =
      """
      SELECT {columns}, {schema}.clock() AS now
        FROM {schema}.schedule
       WHERE name = :name
         FOR UPDATE
      """;

  private static final String DELETE =
      """
      DELETE FROM {schema}.schedule WHERE name = :name
      """;

  private static final String DISABLE_UNDECLARED =
      """
      UPDATE {schema}.schedule
         SET enabled = false, next_at = NULL, updated_at = {schema}.clock()
       WHERE declared AND enabled AND name <> ALL (:names)
      RETURNING name
      """;

  private static final RowMapper<Planned> PLANNED =
      (row, context) ->
          new Planned(
              ScheduleRow.read(row),
              Columns.optionalInstant(row, "next_at"),
              row.getBoolean("declared"));

  private final Db db;
  private final Codec codec;
  private final Resources resources;
  private final Audit audit;
  private final Slots slots;
  private final Firing firing;

  public Schedules(Tenant tenant, Codec codec, Jobs jobs, Resources resources) {
    this.db = tenant.db();
    this.codec = codec;
    this.resources = resources;
    this.audit = new Audit(db);
    this.slots = new Slots(db);
    this.firing = new Firing(slots, jobs);
  }

  /** Makes the schedule, or makes it so. */
  public Planned put(Schedule schedule, Act act) {
    store(schedule, false, act);
    return get(schedule.name()).orElseThrow(() -> noSuch(schedule.name()));
  }

  /**
   * Makes these the schedules of the application's code: those that it declared before and no
   * longer does are disabled. Schedules made otherwise are left alone.
   */
  public void declare(List<Schedule> schedules, Act act) {
    schedules.forEach(schedule -> store(schedule, true, act));
    List<String> names = schedules.stream().map(Schedule::name).toList();
    db.useTransaction(handle ->
        handle
            .createQuery(db.sql(DISABLE_UNDECLARED))
            .bindArray("names", String.class, names)
            .mapTo(String.class)
            .forEach(name -> record(handle, act, "disable_schedule", name)));
  }

  private void store(Schedule schedule, boolean declared, Act act) {
    Instant now = now();
    Optional<Instant> first = schedule.trigger().after(now);
    if (first.isEmpty()) {
      throw HoldfastException.invalid("cron", schedule.trigger(), "a time that ever comes");
    }
    String name = schedule.name();
    String resource = Needs.resourceOfSchedule(name);
    db.useTransaction(handle -> {
      String before = stored(handle, name);
      ScheduleRow.bind(handle.createUpdate(sql(PUT)), schedule, codec)
          .bind("declared", declared)
          .bind(
              "next_at",
              first
                  .filter(moment -> schedule.enabled())
                  .map(moment -> moment.atOffset(ZoneOffset.UTC))
                  .orElse(null))
          .execute();
      String after = stored(handle, name);
      if (!after.equals(before)) {
        audit.write(handle, act, "put_schedule", resource, before, after);
      }
    });
    if (resources.get(resource).capacity() != schedule.maxInstances()) {
      resources.setCapacity(resource, schedule.maxInstances(), act);
    }
  }

  /** All that was said about it; empty when there is none. */
  private String stored(Handle handle, String name) {
    return handle
        .createQuery(db.sql(STORED))
        .bind("name", name)
        .mapTo(String.class)
        .findOne()
        .orElse("");
  }

  public Optional<Planned> get(String name) {
    Limits.name("name", name);
    return db.withHandle(
        handle -> handle.createQuery(sql(GET)).bind("name", name).map(PLANNED).findOne());
  }

  /** In the order of their names, from one on. */
  public List<Planned> list(String after, int limit) {
    Limits.page("limit", limit);
    return db.withHandle(handle ->
        handle
            .createQuery(sql(LIST))
            .bind("after", after)
            .bind("limit", limit)
            .map(PLANNED)
            .list());
  }

  /** Its slots are kept: what ran, ran. */
  public void delete(String name, Act act) {
    Limits.name("name", name);
    db.useTransaction(handle -> {
      if (handle.createUpdate(db.sql(DELETE)).bind("name", name).execute() == 0) {
        throw noSuch(name);
      }
      record(handle, act, "delete_schedule", name);
    });
  }

  /** The next times at which it is due, also while it is disabled. */
  public List<Instant> next(String name, int count, Optional<Instant> from) {
    if (count < 1 || count > MOST_PREVIEWED) {
      throw HoldfastException.invalid("count", count, "1 to " + MOST_PREVIEWED);
    }
    Planned planned = get(name).orElseThrow(() -> noSuch(name));
    Trigger trigger = planned.schedule().trigger();
    Instant start = from.orElseGet(this::now);
    Optional<Instant> next =
        planned
            .nextAt()
            .filter(first -> from.isEmpty() || trigger instanceof Trigger.Every)
            .map(first -> firstNotBefore(first, start, trigger))
            .or(() -> trigger.after(start));
    List<Instant> times = new ArrayList<>();
    while (next.isPresent() && times.size() < count) {
      times.add(next.get());
      next = trigger.after(next.get());
    }
    return times;
  }

  // The slots of an interval are counted from the next one, forwards and backwards.
  private static Instant firstNotBefore(Instant slot, Instant start, Trigger trigger) {
    if (trigger instanceof Trigger.Every(var interval) && slot.isBefore(start)) {
      long behind = ChronoUnit.SECONDS.between(slot, start);
      return slot.plus(interval.multipliedBy(Math.ceilDiv(behind, interval.toSeconds())));
    }
    return slot;
  }

  /** What became of its slots, newest first. */
  public List<Slot> slots(String name, Optional<Instant> before, int limit) {
    Limits.name("name", name);
    Limits.page("limit", limit);
    return slots.latest(name, before.orElse(Instant.parse("9999-01-01T00:00:00Z")), limit);
  }

  /**
   * Runs it for a slot of its own, under the rules for any other: once per slot, and not beside as
   * many runs as there may be.
   *
   * @param scheduledFor the slot, to the second; now, unless given
   */
  public UUID trigger(String name, Optional<Instant> scheduledFor, Act act) {
    Limits.name("name", name);
    return db.inTransaction(handle -> {
      Ready ready =
          handle
              .createQuery(sql(LOCK))
              .bind("name", name)
              .map((row, context) -> new Ready(ScheduleRow.read(row), Columns.instant(row, "now")))
              .findOne()
              .orElseThrow(() -> noSuch(name));
      Schedule schedule = ready.schedule;
      Instant slot = scheduledFor.orElse(ready.now).truncatedTo(ChronoUnit.SECONDS);
      slots.giveUp(handle, name, schedule.longestRun());
      int open = slots.open(handle, name);
      if (open >= schedule.maxInstances()) {
        throw new HoldfastException(
            ErrorCode.STATE_CONFLICT,
            "schedule %s: %d of at most %d runs are not over"
                .formatted(name, open, schedule.maxInstances()));
      }
      UUID job =
          firing
              .fire(handle, schedule, slot)
              .orElseThrow(() ->
                  new HoldfastException(
                      ErrorCode.STATE_CONFLICT,
                      "slot %s of schedule %s is already claimed".formatted(slot, name)));
      record(handle, act, "trigger", name);
      return job;
    });
  }

  private record Ready(Schedule schedule, Instant now) {}

  private Instant now() {
    return db.withHandle(handle ->
        handle.createQuery(db.sql(NOW)).map((row, context) -> Columns.instant(row, "now")).one());
  }

  private String sql(String template) {
    return db.sql(template.replace("{columns}", ScheduleRow.COLUMNS));
  }

  private void record(Handle handle, Act act, String what, String schedule) {
    audit.write(handle, act, what, Needs.resourceOfSchedule(schedule), "", schedule);
  }

  private static HoldfastException noSuch(String name) {
    return new HoldfastException(ErrorCode.NOT_FOUND, "no schedule " + name);
  }
}
