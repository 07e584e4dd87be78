package dev.holdfast.schedule;

import dev.holdfast.codec.Codec;
import dev.holdfast.tenant.Columns;
import dev.holdfast.tenant.Db;
import dev.holdfast.tenant.Portion;
import java.time.Instant;
import java.time.ZoneOffset;
import java.util.List;
import java.util.Optional;
import org.jdbi.v3.core.Handle;
import org.jdbi.v3.core.mapper.RowMapper;
import org.jdbi.v3.core.statement.Query;

/** Reads and writes the rows of schedules. Their locks are taken before all others. */
final class Definitions {

  // With an unchanged trigger a schedule keeps its next_at: a slot that is due and not yet decided
  // must not be lost because an application started and declared its schedules again. A schedule
  // that an operator disabled stays disabled while the same application declares it.
  private static final String PUT =
      """
      INSERT INTO {schema}.schedule AS old ({columns}, declared_by, next_at)
      VALUES (:name, :cron, :every_ms, :timezone, :dst_twice, :dst_missing, :kind, :queue, :priority,
              :args::json, :policy::json, :resources, :coalesce, :misfire_grace_ms, :max_instances,
              :expected_runtime_ms, :enabled, :declared_by, :next_at)
      ON CONFLICT (name) DO UPDATE
         SET cron = excluded.cron, every_ms = excluded.every_ms, timezone = excluded.timezone,
             dst_twice = excluded.dst_twice, dst_missing = excluded.dst_missing,
             kind = excluded.kind, queue = excluded.queue, priority = excluded.priority,
             args = excluded.args, policy = excluded.policy, resources = excluded.resources,
             "coalesce" = excluded."coalesce", misfire_grace_ms = excluded.misfire_grace_ms,
             max_instances = excluded.max_instances,
             expected_runtime_ms = excluded.expected_runtime_ms,
             enabled = excluded.enabled
                       AND (old.enabled OR excluded.declared_by IS NULL
                            OR excluded.declared_by IS DISTINCT FROM old.declared_by),
             declared_by = coalesce(excluded.declared_by, old.declared_by),
             updated_at = {schema}.clock(),
             next_at = CASE WHEN NOT (excluded.enabled
                                      AND (old.enabled OR excluded.declared_by IS NULL
                                           OR excluded.declared_by
                                                IS DISTINCT FROM old.declared_by))
                            THEN NULL
                            WHEN old.enabled
                             AND (old.cron, old.every_ms, old.timezone, old.dst_twice,
                                  old.dst_missing)
                                 IS NOT DISTINCT FROM
                                 (excluded.cron, excluded.every_ms, excluded.timezone,
                                  excluded.dst_twice, excluded.dst_missing)
                            THEN old.next_at
                            ELSE excluded.next_at
                        END
      """
          .replace("{columns}", ScheduleRow.COLUMNS);

  // For the audit: a declaration at an application's start is an act only if it changes something.
  // Arguments are compared but not shown, because they may be large, or secret.
  private static final String DESCRIBED =
      """
      SELECT to_jsonb(said)::text
        FROM (SELECT {columns_but_args}, declared_by, md5(args::text) AS args_md5
                FROM {schema}.schedule
               WHERE name = :name) AS said
      """
          .replace("{columns_but_args}", ScheduleRow.COLUMNS.replace(" args,", ""));

  private static final String GET =
      """
      SELECT {columns}, declared_by, next_at FROM {schema}.schedule WHERE name = :name
      """
          .replace("{columns}", ScheduleRow.COLUMNS);

  private static final String LIST =
      """
      SELECT {columns}, declared_by, next_at
        FROM {schema}.schedule
       WHERE name > :after
       ORDER BY name
       LIMIT :limit
      """
          .replace("{columns}", ScheduleRow.COLUMNS);

  private static final String LOCK =
      """
      SELECT {columns}, next_at, {schema}.clock() AS now
        FROM {schema}.schedule
       WHERE name = :name
         FOR UPDATE
      """
          .replace("{columns}", ScheduleRow.COLUMNS);

  private static final String LOCK_DUE =
      """
      SELECT {columns}, next_at, {schema}.clock() AS now
        FROM {schema}.schedule
       WHERE name = :name AND next_at <= {schema}.clock()
         FOR UPDATE SKIP LOCKED
      """
          .replace("{columns}", ScheduleRow.COLUMNS);

  private static final String DUE =
      """
      SELECT name, next_at
        FROM {schema}.schedule
       WHERE next_at <= {schema}.clock() AND (next_at, name) > (:after_at, :after_name)
       ORDER BY next_at, name
       LIMIT :limit
      """;

  private static final String MOVE_ON =
      """
      UPDATE {schema}.schedule SET next_at = :next_at, enabled = :enabled WHERE name = :name
      """;

  private static final String DELETE =
      """
      DELETE FROM {schema}.schedule WHERE name = :name
      """;

  private static final String DECLARED =
      """
      SELECT name
        FROM {schema}.schedule
       WHERE declared_by = :declared_by AND name <> ALL (:names)
       ORDER BY name
      """;

  private static final String UNDECLARE =
      """
      UPDATE {schema}.schedule
         SET enabled = false, next_at = NULL, declared_by = NULL, updated_at = {schema}.clock()
       WHERE name = :name
      """;

  private static final String NOW =
      """
      SELECT {schema}.clock() AS now
      """;

  /**
   * A schedule whose row is locked.
   *
   * @param first its next slot; empty while it is disabled
   * @param now the time of the database
   */
  record Ready(Schedule schedule, Optional<Instant> first, Instant now) {}

  /** A schedule that is due, by its name only, because its row may be unreadable. */
  record DueOne(String name, Instant nextAt) {

    static final DueOne FIRST = new DueOne("", Instant.EPOCH);
  }

  private static final RowMapper<Planned> PLANNED =
      (row, context) ->
          new Planned(
              ScheduleRow.read(row),
              Columns.optionalInstant(row, "next_at"),
              Columns.optionalText(row, "declared_by"));

  private static final RowMapper<Ready> READY =
      (row, context) ->
          new Ready(
              ScheduleRow.read(row),
              Columns.optionalInstant(row, "next_at"),
              Columns.instant(row, "now"));

  private final Db db;
  private final Codec codec;

  Definitions(Db db, Codec codec) {
    this.db = db;
    this.codec = codec;
  }

  void put(Handle handle, Schedule schedule, Optional<String> declaredBy, Instant first) {
    ScheduleRow.bind(handle.createUpdate(db.sql(PUT)), schedule, codec)
        .bind("declared_by", declaredBy.orElse(null))
        .bind("next_at", schedule.enabled() ? first.atOffset(ZoneOffset.UTC) : null)
        .execute();
  }

  /** The whole definition as text; empty when there is no such schedule. */
  String described(Handle handle, String name) {
    return handle
        .createQuery(db.sql(DESCRIBED))
        .bind("name", name)
        .mapTo(String.class)
        .findOne()
        .orElse("");
  }

  Optional<Planned> get(String name) {
    return db.withHandle(
        handle -> handle.createQuery(db.sql(GET)).bind("name", name).map(PLANNED).findOne());
  }

  Portion<Planned> list(String after, int limit) {
    return db.inTransaction(handle ->
        Portion.of(
            handle.createQuery(db.sql(LIST)).bind("after", after).bind("limit", limit),
            limit,
            PLANNED,
            planned -> String.valueOf(planned.schedule().job().args()).length()));
  }

  Optional<Ready> lock(Handle handle, String name) {
    return named(handle.createQuery(db.sql(LOCK)), name);
  }

  /** Locks a schedule; empty if it is not due, or if another transaction has locked it. */
  Optional<Ready> lockDue(Handle handle, String name) {
    return named(handle.createQuery(db.sql(LOCK_DUE)), name);
  }

  private static Optional<Ready> named(Query query, String name) {
    return query.bind("name", name).map(READY).findOne();
  }

  /** Schedules that are due, the longest due first, after {@code after}. */
  List<DueOne> due(DueOne after, int limit) {
    return db.withHandle(handle ->
        handle
            .createQuery(db.sql(DUE))
            .bind("after_at", after.nextAt.atOffset(ZoneOffset.UTC))
            .bind("after_name", after.name)
            .bind("limit", limit)
            .map((row, context) ->
                new DueOne(row.getString("name"), Columns.instant(row, "next_at")))
            .list());
  }

  /** Sets the next slot. A schedule without one is disabled. */
  void moveOn(Handle handle, String name, Optional<Instant> next) {
    handle
        .createUpdate(db.sql(MOVE_ON))
        .bind("name", name)
        .bind("next_at", next.map(at -> at.atOffset(ZoneOffset.UTC)).orElse(null))
        .bind("enabled", next.isPresent())
        .execute();
  }

  void delete(Handle handle, String name) {
    handle.createUpdate(db.sql(DELETE)).bind("name", name).execute();
  }

  /** The schedules that an application declared before and no longer declares. */
  List<String> declaredBy(String application, List<String> stillDeclared) {
    return db.withHandle(handle ->
        handle
            .createQuery(db.sql(DECLARED))
            .bind("declared_by", application)
            .bindArray("names", String.class, stillDeclared)
            .mapTo(String.class)
            .list());
  }

  void undeclare(Handle handle, String name) {
    handle.createUpdate(db.sql(UNDECLARE)).bind("name", name).execute();
  }

  Instant now(Handle handle) {
    return handle.createQuery(db.sql(NOW)).map((row, context) -> Columns.instant(row, "now")).one();
  }
}
