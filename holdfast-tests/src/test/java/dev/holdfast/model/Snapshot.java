package dev.holdfast.model;

import dev.holdfast.rig.Invariant;
import dev.holdfast.rig.Sandbox;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.UUID;

/**
 * What the tables say at one moment, as far as the model knows of it, read in one trip, the
 * invariants they break, and whether the tenant beside them is as it was.
 *
 * @param attempts the outcome of each attempt that ended, by its fence
 * @param audited how often each act is recorded
 */
record Snapshot(
    Map<UUID, Row> jobs,
    List<Held> holds,
    List<Blocking> blocks,
    List<Reservation> reservations,
    Map<String, Integer> capacities,
    Map<String, Model.Place> subjects,
    Map<UUID, Map<Long, String>> attempts,
    Map<String, OptionalLong> schedules,
    Map<ModelSlot.Key, Slot> slots,
    Map<Model.Audited, Integer> audited,
    List<String> violations) {

  /** A job, live or finished. Times are milliseconds. */
  record Row(
      boolean isLive,
      String state,
      long fence,
      int attempt,
      int failures,
      int granted,
      int results,
      Optional<String> worker,
      OptionalLong expiresAt,
      OptionalLong timesOutAt,
      long runAt,
      int priority,
      Optional<String> stopAs,
      Optional<String> waitingOn,
      OptionalLong waitingSince,
      int passedOver) {}

  /** A slot, and its job if it has one. */
  record Slot(Optional<UUID> job, String status, OptionalLong startedAt, Optional<String> worker) {}

  record Held(String resource, UUID job, long fence, OptionalLong passesAt) {}

  record Blocking(String resource, UUID job) {}

  record Reservation(String resource, UUID job, boolean got, long since) {}

  // Times as milliseconds: what the engine writes in this rig has no finer ones.
  private static final String ALL =
      """
      SELECT 'live' AS what, id, state AS name, fence AS number, fence, attempt, failures, granted,
             coalesce(result_count, 0) AS results, worker, (extract(epoch FROM lease_expires_at) * 1000)::bigint AS ends_at,
             (extract(epoch FROM times_out_at) * 1000)::bigint AS times_out_at,
             (extract(epoch FROM run_at) * 1000)::bigint AS run_at,
             (SELECT priority FROM {schema}.lane WHERE lane.id = job.lane) AS priority,
             stop_as, waiting_on,
             (extract(epoch FROM waiting_since) * 1000)::bigint AS waiting_since, passed_over
        FROM {schema}.job
      UNION ALL
      SELECT 'done', id, state, fence, fence, attempt, failures, granted,
             coalesce(result_count, 0), worker, NULL, NULL,
             (extract(epoch FROM run_at) * 1000)::bigint,
             (SELECT priority FROM {schema}.lane WHERE lane.id = done.lane), NULL, NULL, NULL, NULL
        FROM {schema}.job_done AS done
      UNION ALL
      SELECT other.what, other.id, other.name, other.number, NULL, NULL, NULL, NULL, NULL,
             other.worker, (extract(epoch FROM other.at) * 1000)::bigint, NULL, NULL, NULL, NULL,
             NULL, NULL, NULL
        FROM (SELECT 'hold', job_id, resource, fence, passes_at, NULL FROM {schema}.hold
              UNION ALL
              SELECT 'block', job_id, resource, 0, NULL, NULL FROM {schema}.block
              UNION ALL
              SELECT 'reservation', job_id, resource, got::int, since, NULL
                FROM {schema}.reservation
              UNION ALL
              SELECT 'resource', NULL, name, capacity, NULL, NULL FROM {schema}.resource
              UNION ALL
              SELECT 'subject: ' || id, job_id, state, 0, NULL, NULL FROM {schema}.subject
              UNION ALL
              SELECT 'schedule: ' || name, NULL, '', 0, next_at, NULL FROM {schema}.schedule
              UNION ALL
              SELECT 'slot: ' || schedule, job_id, status,
                     (extract(epoch FROM scheduled_for) * 1000)::bigint, started_at, worker
                FROM {schema}.slot
              UNION ALL
              SELECT 'attempt', job_id, outcome, fence, NULL, NULL FROM {schema}.attempt
              UNION ALL
              SELECT 'attempt', id, attempt_outcome, fence, NULL, NULL
                FROM {schema}.job_done
               WHERE attempt_outcome IS NOT NULL
              UNION ALL
              SELECT 'act: ' || coalesce(resource, ''), job_id, act, count(*), NULL, actor
                FROM {schema}.audit
               GROUP BY resource, job_id, act, actor
             ) AS other (what, id, name, number, at, worker)
      """;

  private static final String WITH_VIOLATIONS = ALL + ";\n" + Invariant.allViolations();

  static Snapshot of(Sandbox sandbox, Neighbour neighbour) throws SQLException {
    Snapshot snapshot =
        new Snapshot(
            new HashMap<>(),
            new ArrayList<>(),
            new ArrayList<>(),
            new ArrayList<>(),
            new HashMap<>(),
            new HashMap<>(),
            new HashMap<>(),
            new HashMap<>(),
            new HashMap<>(),
            new HashMap<>(),
            new ArrayList<>());
    try (PreparedStatement statement =
        sandbox
            .connection()
            .prepareStatement(sandbox.sql(WITH_VIOLATIONS) + ";\n" + neighbour.traceQuery())) {
      statement.execute();
      try (ResultSet rows = statement.getResultSet()) {
        while (rows.next()) {
          snapshot.add(rows);
        }
      }
      statement.getMoreResults();
      try (ResultSet rows = statement.getResultSet()) {
        while (rows.next()) {
          snapshot.violations.add(rows.getString(1) + ": " + rows.getString(2));
        }
      }
      statement.getMoreResults();
      try (ResultSet rows = statement.getResultSet()) {
        rows.next();
        snapshot.violations.addAll(neighbour.complaintsUnless(rows.getString(1)));
      }
    }
    return snapshot;
  }

  private void add(ResultSet row) throws SQLException {
    UUID id = row.getObject("id", UUID.class);
    String name = row.getString("name");
    long number = row.getLong("number");
    String what = row.getString("what");
    switch (what) {
      case "live", "done" -> {
        if (jobs.put(id, job(row)) != null) {
          violations.add(id + " is there twice");
        }
      }
      case "hold" -> holds.add(new Held(name, id, number, millis(row, "ends_at")));
      case "block" -> blocks.add(new Blocking(name, id));
      case "reservation" ->
          reservations.add(new Reservation(name, id, number == 1, row.getLong("ends_at")));
      case "resource" -> capacities.put(name, (int) number);
      case "attempt" -> {
        if (attempts.computeIfAbsent(id, job -> new HashMap<>()).put(number, name) != null) {
          violations.add(id + " has two attempts under " + number);
        }
      }
      default -> {
        String whose = what.substring(what.indexOf(' ') + 1);
        switch (what.substring(0, what.indexOf(':'))) {
          case "schedule" -> schedules.put(whose, millis(row, "ends_at"));
          case "slot" -> slots.put(new ModelSlot.Key(whose, number), slot(row));
          case "act" ->
              audited.put(
                  new Model.Audited(name, row.getString("worker"), Optional.ofNullable(id), whose),
                  (int) number);
          default -> subjects.put(whose, new Model.Place(name, id));
        }
      }
    }
  }

  private static Slot slot(ResultSet row) throws SQLException {
    return new Slot(
        Optional.ofNullable(row.getObject("id", UUID.class)),
        row.getString("name"),
        millis(row, "ends_at"),
        Optional.ofNullable(row.getString("worker")));
  }

  private static Row job(ResultSet row) throws SQLException {
    return new Row(
        row.getString("what").equals("live"),
        row.getString("name"),
        row.getLong("fence"),
        row.getInt("attempt"),
        row.getInt("failures"),
        row.getInt("granted"),
        row.getInt("results"),
        Optional.ofNullable(row.getString("worker")),
        millis(row, "ends_at"),
        millis(row, "times_out_at"),
        row.getLong("run_at"),
        row.getInt("priority"),
        Optional.ofNullable(row.getString("stop_as")),
        Optional.ofNullable(row.getString("waiting_on")),
        millis(row, "waiting_since"),
        row.getInt("passed_over"));
  }

  private static OptionalLong millis(ResultSet row, String column) throws SQLException {
    long value = row.getLong(column);
    return row.wasNull() ? OptionalLong.empty() : OptionalLong.of(value);
  }

  boolean isParked(ModelJob job) {
    Row row = jobs.get(job.id);
    return row != null && row.waitingOn.isPresent();
  }

  boolean waitsFor(ModelJob job, String resource) {
    Row row = jobs.get(job.id);
    return row != null && row.waitingOn.equals(Optional.of(resource));
  }
}
