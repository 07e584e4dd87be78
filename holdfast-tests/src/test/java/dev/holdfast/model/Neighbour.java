package dev.holdfast.model;

import static dev.holdfast.model.JobFromSpec.id;

import dev.holdfast.job.Item;
import dev.holdfast.job.NewJob;
import dev.holdfast.job.Payload;
import dev.holdfast.job.Progress;
import dev.holdfast.job.Subject;
import dev.holdfast.lease.ClaimRequest;
import dev.holdfast.lease.LanePositions;
import dev.holdfast.lease.PgLeases;
import dev.holdfast.lease.Report;
import dev.holdfast.queue.QueueSettings;
import dev.holdfast.rig.People;
import dev.holdfast.rig.Sandbox;
import dev.holdfast.schedule.Schedule;
import dev.holdfast.schedule.Trigger;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.function.UnaryOperator;
import java.util.stream.Collectors;

/**
 * Another tenant beside the one under test, with jobs of the same ids, leased to workers of the
 * same names, and with the same resources, queues, subjects and schedules. Nobody does anything to
 * it, so whatever changes there came from next door.
 */
final class Neighbour implements AutoCloseable {

  private static final int JOBS = 24;

  private static final Report REPORT =
      new Report(
          Progress.NONE,
          List.of("a line"),
          1,
          0,
          List.of(new Item("item 0", new Payload("1"))),
          Optional.of("key 0"));

  private static final String EVERYTHING =
      """
      SELECT line
        FROM (SELECT 'job' || to_jsonb(job)::text FROM {schema}.job
              UNION ALL
              SELECT 'done' || to_jsonb(job_done)::text FROM {schema}.job_done
              UNION ALL
              SELECT 'hold' || to_jsonb(hold)::text FROM {schema}.hold
              UNION ALL
              SELECT 'block' || to_jsonb(block)::text FROM {schema}.block
              UNION ALL
              SELECT 'reservation' || to_jsonb(reservation)::text FROM {schema}.reservation
              UNION ALL
              SELECT 'resource' || to_jsonb(resource)::text FROM {schema}.resource
              UNION ALL
              SELECT 'subject' || to_jsonb(subject)::text FROM {schema}.subject
              UNION ALL
              SELECT 'queue' || to_jsonb(queue)::text FROM {schema}.queue
              UNION ALL
              SELECT 'schedule' || to_jsonb(schedule)::text FROM {schema}.schedule
              UNION ALL
              SELECT 'slot' || to_jsonb(slot)::text FROM {schema}.slot
              UNION ALL
              SELECT 'claim' || to_jsonb(claim)::text FROM {schema}.claim
              UNION ALL
              SELECT 'attempt' || to_jsonb(attempt)::text FROM {schema}.attempt
              UNION ALL
              SELECT 'item' || to_jsonb(job_item)::text FROM {schema}.job_item
              UNION ALL
              SELECT 'log' || to_jsonb(job_log)::text FROM {schema}.job_log
              UNION ALL
              SELECT 'key' || to_jsonb(idempotency)::text FROM {schema}.idempotency
              UNION ALL
              SELECT 'outbox' || to_jsonb(outbox)::text FROM {schema}.outbox
              UNION ALL
              SELECT 'lane' || to_jsonb(lane)::text FROM {schema}.lane
              UNION ALL
              SELECT 'audit' || to_jsonb(audit)::text FROM {schema}.audit
             ) AS every (line)
       ORDER BY line
      """;

  private static final List<String> TABLES =
      List.of(
          "job",
          "job_done",
          "hold",
          "block",
          "reservation",
          "resource",
          "subject",
          "queue",
          "schedule",
          "slot",
          "claim",
          "attempt",
          "job_item",
          "job_log",
          "idempotency",
          "outbox",
          "lane",
          "audit");

  private final Sandbox sandbox = new Sandbox("neighbour", UnaryOperator.identity());
  private List<String> asLeft = List.of();
  private String traceAsLeft = "";
  private final String traceQuery =
      sandbox.sql(
          TABLES.stream()
              .map(table ->
                  "(SELECT count(*) || ' ' || coalesce(max(xmin::text::bigint), 0) FROM {schema}."
                      + table
                      + ")")
              .collect(Collectors.joining(", ", "SELECT concat_ws(', ', ", ")")));

  Neighbour() throws SQLException {
    moveIn();
  }

  private void moveIn() throws SQLException {
    sandbox.setClock(Instant.parse("2026-01-01T00:00:00Z"));
    sandbox.queues().put("narrow", QueueSettings.DEFAULTS.withPaused(true).withConcurrencyLimit(3));
    sandbox
        .schedules()
        .put(
            Schedule.of("brief", Trigger.cron("*/20 * * * * *"), NewJob.of("deploy", 1)),
            People.ADA);
    for (int i = 0; i < JOBS; i++) {
      NewJob job = NewJob.of(i % 4 == 0 ? "check" : "deploy", i).withId(id(i));
      NewJob like =
          switch (i % 4) {
            case 0 -> job.withResources("a", "b");
            case 1 -> job.withTarget("t");
            case 2 -> job.withSubject(Subject.of("site", "north", "moving"));
            default -> job.withQueue("narrow");
          };
      var unused = Retries.once(() -> sandbox.jobs().enqueue(like));
    }
    PgLeases leases =
        new PgLeases(sandbox.tenant(), Set::of, new LanePositions(() -> 0), () -> 0, () -> {});
    leases
        .claim(ClaimRequest.of("w1", Set.of("default", "narrow"), JOBS).withClaimId("claim-0"))
        .leases()
        .forEach(lease -> leases.report(lease, REPORT));
    asLeft = picture();
    try (Statement statement = sandbox.connection().createStatement();
        ResultSet row = statement.executeQuery(traceQuery)) {
      row.next();
      traceAsLeft = row.getString(1);
    }
  }

  /**
   * Whoever writes leaves a trace: how many rows each table has, and the latest transaction that
   * wrote one of them. It costs little enough to be asked for after every command.
   */
  String traceQuery() {
    return traceQuery;
  }

  /** What came from next door, if this is not the trace that was left here. */
  List<String> complaintsUnless(String trace) throws SQLException {
    if (trace.equals(traceAsLeft)) {
      return List.of();
    }
    List<String> complaints = complaints();
    if (!complaints.isEmpty()) {
      return complaints;
    }
    moveInAnew();
    return List.of("somebody wrote to the tenant next door");
  }

  /** A statement that somebody mixed up is one about this tenant. */
  String mixUp(String sql) {
    return sql.replace("holdfast_neighbour_0.", sandbox.sql("{schema}."));
  }

  /** What came from next door. */
  List<String> complaints() throws SQLException {
    List<String> now = picture();
    if (now.equals(asLeft)) {
      return List.of();
    }
    List<String> complaints = new ArrayList<>();
    now.stream()
        .filter(row -> !asLeft.contains(row))
        .forEach(row -> complaints.add("new next door: " + row));
    asLeft.stream()
        .filter(row -> !now.contains(row))
        .forEach(row -> complaints.add("gone next door: " + row));
    moveInAnew();
    return complaints;
  }

  private void moveInAnew() throws SQLException {
    sandbox.empty();
    moveIn();
  }

  /** Moves out, and another moves in under the same name. */
  void remake() throws SQLException {
    sandbox.remake();
    moveIn();
  }

  private List<String> picture() throws SQLException {
    List<String> rows = new ArrayList<>();
    try (Statement statement = sandbox.connection().createStatement();
        ResultSet row = statement.executeQuery(sandbox.sql(EVERYTHING))) {
      while (row.next()) {
        rows.add(row.getString(1));
      }
    }
    return rows;
  }

  @Override
  public void close() throws SQLException {
    sandbox.close();
  }
}
