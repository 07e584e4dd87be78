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

/** All that the tables say at one moment, read in one trip, and the invariants they break. */
record Snapshot(
    Map<UUID, Row> jobs,
    List<Held> holds,
    List<Blocking> blocks,
    List<Reservation> reservations,
    Map<String, Integer> capacities,
    List<String> violations) {

  /** A job, live or finished. Times are milliseconds. */
  record Row(
      boolean isLive,
      String state,
      long fence,
      int attempt,
      int failures,
      int granted,
      Optional<String> worker,
      OptionalLong expiresAt,
      long runAt,
      Optional<String> stopAs,
      Optional<String> waitingOn,
      OptionalLong waitingSince,
      int passedOver) {}

  record Held(String resource, UUID job, long fence, OptionalLong passesAt) {}

  record Blocking(String resource, UUID job) {}

  record Reservation(String resource, UUID job, boolean got, long since) {}

  // Times as milliseconds: what the engine writes in this rig has no finer ones.
  private static final String ALL =
      """
      SELECT 'live' AS what, id, state AS name, fence, attempt, failures, granted, worker,
             (extract(epoch FROM lease_expires_at) * 1000)::bigint AS ends_at,
             (extract(epoch FROM run_at) * 1000)::bigint AS run_at, stop_as, waiting_on,
             (extract(epoch FROM waiting_since) * 1000)::bigint AS waiting_since, passed_over
        FROM {schema}.job
      UNION ALL
      SELECT 'done', id, state, fence, attempt, failures, granted, worker, NULL,
             (extract(epoch FROM run_at) * 1000)::bigint, NULL, NULL, NULL, NULL
        FROM {schema}.job_done
      UNION ALL
      SELECT 'hold', job_id, resource, fence, NULL, NULL, NULL, NULL,
             (extract(epoch FROM passes_at) * 1000)::bigint, NULL, NULL, NULL, NULL, NULL
        FROM {schema}.hold
      UNION ALL
      SELECT 'block', job_id, resource, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL,
             NULL, NULL
        FROM {schema}.block
      UNION ALL
      SELECT 'reservation', job_id, resource, got::int, NULL, NULL, NULL, NULL,
             (extract(epoch FROM since) * 1000)::bigint, NULL, NULL, NULL, NULL, NULL
        FROM {schema}.reservation
      UNION ALL
      SELECT 'resource', NULL, name, capacity, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL,
             NULL, NULL
        FROM {schema}.resource
      """;

  private static final String WITH_VIOLATIONS = ALL + ";\n" + Invariant.allViolations();

  static Snapshot of(Sandbox sandbox) throws SQLException {
    Snapshot snapshot =
        new Snapshot(
            new HashMap<>(),
            new ArrayList<>(),
            new ArrayList<>(),
            new ArrayList<>(),
            new HashMap<>(),
            new ArrayList<>());
    try (PreparedStatement statement =
        sandbox.connection().prepareStatement(sandbox.sql(WITH_VIOLATIONS))) {
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
    }
    return snapshot;
  }

  private void add(ResultSet row) throws SQLException {
    UUID id = row.getObject("id", UUID.class);
    String name = row.getString("name");
    long number = row.getLong("fence");
    switch (row.getString("what")) {
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
      default -> throw new IllegalStateException(row.getString("what"));
    }
  }

  private static Row job(ResultSet row) throws SQLException {
    return new Row(
        row.getString("what").equals("live"),
        row.getString("name"),
        row.getLong("fence"),
        row.getInt("attempt"),
        row.getInt("failures"),
        row.getInt("granted"),
        Optional.ofNullable(row.getString("worker")),
        millis(row, "ends_at"),
        row.getLong("run_at"),
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
