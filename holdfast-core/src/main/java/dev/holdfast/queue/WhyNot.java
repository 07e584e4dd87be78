package dev.holdfast.queue;

import dev.holdfast.fleet.Workers;
import dev.holdfast.job.JobState;
import dev.holdfast.queue.Why.BlockedBy;
import dev.holdfast.queue.Why.Reason;
import dev.holdfast.tenant.Columns;
import dev.holdfast.tenant.Db;
import dev.holdfast.tenant.Tenant;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.time.Instant;
import java.util.List;
import java.util.Optional;
import java.util.UUID;
import org.jdbi.v3.core.Handle;

/** Finds the one reason why a job is not running. Reads only, and locks nothing. */
public final class WhyNot {

  private static final String FACTS =
      """
      SELECT job.state, job.worker, job.run_at, job.run_at > {schema}.clock() AS not_due,
             job.waiting_on, lane.*, coalesce(queue.paused, false) AS queue_paused,
             coalesce(queue.concurrency_limit <= (
               SELECT count(*)
                 FROM {schema}.job AS leased
                 JOIN {schema}.lane AS busy ON busy.id = leased.lane
                WHERE leased.worker IS NOT NULL AND busy.queue = queue.name), false) AS queue_full
        FROM {schema}.job
        JOIN {schema}.lane ON lane.id = job.lane
        LEFT JOIN {schema}.queue ON queue.name = lane.queue
       WHERE job.id = :id
      """;

  private static final String FINISHED =
      """
      SELECT state, finished_at FROM {schema}.job_done WHERE id = :id
      """;

  // The resource that the job is parked on comes first: it was in the job's way at the last claim.
  // For a job that no claim has looked at yet, the first thing that is in its way now.
  private static final String OBSTACLE =
      """
      SELECT needed.name, obstacle.what, obstacle.job_id, obstacle.since, obstacle.note,
             coalesce((SELECT state FROM {schema}.job_all WHERE job_all.id = obstacle.job_id),
                      'unknown') AS state
        FROM {schema}.job
       CROSS JOIN unnest(job.resources) AS needed (name)
       CROSS JOIN LATERAL (
         SELECT 1 AS rank, 'RESOURCE_BLOCKED' AS what, block.job_id, block.since,
                block.reason || ', by ' || block.actor AS note
           FROM {schema}.block
          WHERE block.resource = needed.name
         UNION ALL
         SELECT 2, 'NOT_ITS_TURN', head.id, earlier.created_at, 'comes first'
           FROM {schema}.first_on_target(needed.name, 1) AS head
           JOIN {schema}.job AS earlier ON earlier.id = head.id
          WHERE needed.name LIKE 'target:%' AND head.id <> job.id
         UNION ALL
         SELECT CASE WHEN hold.passes_at IS NULL THEN 3 ELSE 4 END,
                CASE WHEN hold.passes_at IS NULL THEN 'RESOURCE_HELD' ELSE 'RESOURCE_PASSING_ON' END,
                hold.job_id, hold.since,
                coalesce('passes on at ' || hold.passes_at, 'is running')
           FROM {schema}.hold
          WHERE hold.resource = needed.name
            AND (hold.passes_at IS NULL OR hold.passes_at > {schema}.clock())
            AND (SELECT count(*)
                   FROM {schema}.hold AS every
                  WHERE every.resource = needed.name
                    AND (every.passes_at IS NULL OR every.passes_at > {schema}.clock()))
                >= coalesce((SELECT capacity FROM {schema}.resource WHERE name = needed.name), 1)
         UNION ALL
         SELECT 5, 'RESOURCE_RESERVED', reservation.job_id, reservation.since, 'waited too long'
           FROM {schema}.reservation
          WHERE reservation.resource = needed.name AND reservation.got
            AND reservation.job_id <> job.id AND {schema}.insists(reservation.job_id)
       ) AS obstacle
       WHERE job.id = :id
       ORDER BY needed.name IS NOT DISTINCT FROM job.waiting_on DESC, obstacle.rank, needed.name,
                obstacle.since, obstacle.job_id
       LIMIT 1
      """;

  private record Facts(
      JobState state,
      Optional<String> worker,
      Instant runAt,
      boolean notDue,
      boolean queuePaused,
      boolean queueFull,
      Optional<String> waitingOn,
      Lane lane) {

    static Facts of(ResultSet row) throws SQLException {
      return new Facts(
          JobState.of(row.getString("state")),
          Columns.optionalText(row, "worker"),
          Columns.instant(row, "run_at"),
          row.getBoolean("not_due"),
          row.getBoolean("queue_paused"),
          row.getBoolean("queue_full"),
          Columns.optionalText(row, "waiting_on"),
          Lane.of(row));
    }
  }

  private final String tenant;
  private final Db db;
  private final Workers workers;
  private final String facts;
  private final String finished;
  private final String obstacle;

  public WhyNot(Tenant tenant, Workers workers) {
    Db db = tenant.db();
    this.tenant = tenant.name().value();
    this.db = db;
    this.workers = workers;
    this.facts = db.sql(FACTS);
    this.finished = db.sql(FINISHED);
    this.obstacle = db.sql(OBSTACLE);
  }

  /** Empty when the job is in neither table, or moved from one to the other meanwhile. */
  Optional<Why> of(UUID id) {
    return db.withHandle(handle ->
        handle
            .createQuery(facts)
            .bind("id", id)
            .map((row, context) -> Facts.of(row))
            .findOne()
            .map(live -> ofLive(handle, id, live))
            .or(() -> ofFinished(handle, id)));
  }

  private Optional<Why> ofFinished(Handle handle, UUID id) {
    return handle
        .createQuery(finished)
        .bind("id", id)
        .map((row, context) ->
            Why.because(
                Reason.FINISHED,
                "it %s at %s"
                    .formatted(row.getString("state"), Columns.instant(row, "finished_at"))))
        .findOne();
  }

  private Why ofLive(Handle handle, UUID id, Facts job) {
    return switch (job.state) {
      case PENDING -> Why.because(Reason.PENDING, "it is not offered until somebody queues it");
      case PAUSED -> Why.because(Reason.PAUSED, "it waits for somebody to resume it");
      case DISPATCHED, RUNNING, STOPPING ->
          Why.because(
              Reason.RUNNING,
              "it is %s at %s".formatted(job.state.stored(), job.worker.orElse("nobody")));
      case QUEUED -> ofQueued(handle, id, job);
      case SUCCEEDED, FAILED, CANCELLED ->
          throw new IllegalStateException("finished job " + id + " among the live");
    };
  }

  private Why ofQueued(Handle handle, UUID id, Facts job) {
    if (job.notDue) {
      return Why.because(Reason.NOT_DUE, "it is due at " + job.runAt);
    }
    if (job.queuePaused) {
      return Why.because(Reason.QUEUE_PAUSED, "queue " + job.lane.queue() + " is paused");
    }
    return obstacle(handle, id)
        .orElseGet(() -> {
          if (job.queueFull) {
            return Why.because(Reason.QUEUE_FULL, "queue " + job.lane.queue() + " is at its limit");
          }
          return isServed(job.lane)
              ? Why.because(Reason.CLAIMABLE, claimable(job))
              : Why.because(Reason.NO_WORKER, "no worker online serves " + describe(job.lane));
        });
  }

  // A parked job can be claimable between the end of a silent worker's hold and the reaper's next
  // round.
  private static String claimable(Facts job) {
    return job.waitingOn
        .map(resource -> resource + " is free again; it is woken within seconds")
        .orElse("the next free worker takes it");
  }

  private Optional<Why> obstacle(Handle handle, UUID id) {
    return handle
        .createQuery(obstacle)
        .bind("id", id)
        .map((row, context) -> {
          BlockedBy by =
              new BlockedBy(
                  row.getString("name"),
                  row.getObject("job_id", UUID.class),
                  row.getString("state"),
                  Columns.instant(row, "since"));
          String detail =
              "%s: job %s (%s) %s"
                  .formatted(by.resource(), by.jobId(), by.state(), row.getString("note"));
          return new Why(Reason.valueOf(row.getString("what")), detail, Optional.of(by));
        })
        .findOne();
  }

  private boolean isServed(Lane lane) {
    return workers.anyServes(
        tenant,
        lane.queue(),
        lane.kind(),
        lane.hostRequired() ? Optional.of(lane.host()) : Optional.empty(),
        lane.labels());
  }

  private static String describe(Lane lane) {
    List<String> wants =
        List.of(
            "queue " + lane.queue(),
            "kind " + lane.kind(),
            lane.hostRequired() ? "on host " + lane.host() : "on any host",
            lane.labels().isEmpty() ? "" : "with labels " + String.join(", ", lane.labels()));
    return String.join(" ", wants).strip();
  }
}
