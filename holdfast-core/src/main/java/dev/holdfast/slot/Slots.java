package dev.holdfast.slot;

import dev.holdfast.job.Failure;
import dev.holdfast.job.Moved;
import dev.holdfast.tenant.Columns;
import dev.holdfast.tenant.Db;
import java.time.Duration;
import java.time.Instant;
import java.time.OffsetDateTime;
import java.time.ZoneOffset;
import java.util.Collection;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.UUID;
import org.jdbi.v3.core.Handle;

/**
 * Stores slots. To insert the row of a moment is to take the right to run for it, so no moment runs
 * twice. Slots follow their jobs in the same transactions, and outlive them.
 */
public final class Slots {

  /** The exact reason that the recovery at a worker's start writes. */
  public static final String RECOVERED = "worker_startup_recovery";

  /** The error code of a job that was not started in time. */
  public static final String MISFIRE = "MISFIRE";

  /** A slot that gets no job, and why. */
  public record Skipped(Instant scheduledFor, SlotStatus status, String reason) {}

  /**
   * What the recovery at a worker's start did.
   *
   * @param runs how many runs it ended as failed
   * @param stillLeased how many runs of the same workers have leases that have not run out
   */
  public record Recovered(int runs, int stillLeased) {}

  private static final String TAKE =
      """
      INSERT INTO {schema}.slot (schedule, scheduled_for, status, job_id, decided_at)
      VALUES (:schedule, :scheduled_for, :status, :job_id, {schema}.clock())
      ON CONFLICT DO NOTHING
      """;

  private static final String SKIP =
      """
      INSERT INTO {schema}.slot (schedule, scheduled_for, status, reason, decided_at)
      SELECT :schedule, skipped.scheduled_for, skipped.status, skipped.reason, {schema}.clock()
        FROM unnest(:slots, :statuses, :reasons) AS skipped (scheduled_for, status, reason)
       ORDER BY skipped.scheduled_for
      ON CONFLICT DO NOTHING
      """;

  private static final String TAKEN =
      """
      SELECT scheduled_for
        FROM {schema}.slot
       WHERE schedule = :schedule AND scheduled_for = ANY (:slots)
      """;

  private static final String OPEN =
      """
      SELECT count(*)
        FROM {schema}.slot
       WHERE schedule = :schedule AND status IN ('queued', 'running')
      """;

  // Counted from the decision, so that a slot triggered by hand for a moment long ago has its time.
  private static final String NEVER_STARTED =
      """
      SELECT job_id
        FROM {schema}.slot
       WHERE schedule = :schedule
         AND status = 'queued'
         AND started_at IS NULL
         AND decided_at < {schema}.clock() - :grace_ms * interval '1 millisecond'
       ORDER BY scheduled_for
      """;

  // A failure by a lost lease is not followed: the worker vanished and reported no end, so its run
  // stays as it is until the schedule's next slot, or the worker's next start, gives it up (see
  // docs/schedules.md). A run that was given up and ends all the same has ended. Jobs are looked up
  // one by one: a join could read all finished jobs.
  private static final String FOLLOW =
      """
      WITH followed AS MATERIALIZED (
        SELECT id, job_id
          FROM {schema}.slot
         WHERE job_id = ANY (:job_ids)
         ORDER BY schedule, scheduled_for -- one order for all who wait for slots
           FOR UPDATE
      ), moved AS MATERIALIZED (
        SELECT followed.id AS slot_id, job.*
          FROM followed
         CROSS JOIN LATERAL (
           SELECT state, worker, started_at, finished_at, error_code, error_message
             FROM {schema}.job_all
            WHERE job_all.id = followed.job_id
           OFFSET 0
         ) AS job
      )
      UPDATE {schema}.slot
         SET status = CASE WHEN job.state = 'succeeded' THEN 'ran'
                           WHEN job.state = 'cancelled' AND job.error_code = :misfire
                                AND slot.started_at IS NULL THEN 'skipped_misfire'
                           WHEN job.state IN ('failed', 'cancelled') THEN 'failed'
                           WHEN slot.status = 'skipped_timeout' THEN 'skipped_timeout'
                           WHEN job.state IN ('dispatched', 'running', 'stopping') THEN 'running'
                           ELSE 'queued'
                       END,
             started_at = coalesce(job.started_at, slot.started_at),
             finished_at = coalesce(job.finished_at,
                                    CASE WHEN slot.status = 'skipped_timeout'
                                         THEN slot.finished_at
                                     END),
             worker = coalesce(job.worker, slot.worker),
             reason = CASE WHEN job.state = 'cancelled' THEN coalesce(job.error_message, 'cancelled')
                           WHEN job.state IN ('succeeded', 'failed') THEN job.error_message
                           WHEN slot.status = 'skipped_timeout' THEN slot.reason
                           ELSE job.error_message
                       END
        FROM moved AS job
       WHERE slot.id = ANY (ARRAY (SELECT slot_id FROM moved))
         AND slot.id = job.slot_id
         AND NOT (job.state = 'failed' AND job.error_code = :lease_lost)
      """;

  // A transaction that has such a row locked is about to end the run.
  private static final String GIVE_UP =
      """
      WITH stale AS MATERIALIZED (
        SELECT id
          FROM {schema}.slot
         WHERE schedule = :schedule
           AND status = 'running'
           AND started_at < {schema}.clock() - :longest_ms * interval '1 millisecond'
           FOR UPDATE SKIP LOCKED
      )
      UPDATE {schema}.slot
         SET status = 'skipped_timeout', finished_at = {schema}.clock(),
             reason = format('still running after %s seconds', :longest_ms / 1000)
       WHERE id = ANY (ARRAY (SELECT id FROM stale))
      """;

  private static final String RECOVER =
      """
      WITH theirs AS MATERIALIZED (
        SELECT slot.id,
               (SELECT job.worker FROM {schema}.job WHERE job.id = slot.job_id) AS leased_to
          FROM {schema}.slot
         WHERE slot.status = 'running'
           AND slot.worker = ANY (:workers)
           AND slot.started_at <= :before
           FOR UPDATE SKIP LOCKED
      ), recovered AS (
        UPDATE {schema}.slot
           SET status = 'failed', finished_at = {schema}.clock(), reason = :reason
         WHERE id = ANY (ARRAY (SELECT id FROM theirs WHERE leased_to IS NULL))
        RETURNING id
      )
      SELECT (SELECT count(*) FROM recovered) AS runs,
             (SELECT count(*) FROM theirs WHERE leased_to IS NOT NULL) AS still_leased
      """;

  // A run whose worker vanished, and whose schedule will have no next slot to give it up; and a
  // queued slot whose job does not exist, which would keep its schedule from ever running again.
  private static final String END_ORPHANS =
      """
      WITH orphan AS MATERIALIZED (
        SELECT id
          FROM {schema}.slot
         WHERE status IN ('queued', 'running')
           AND NOT EXISTS (SELECT FROM {schema}.job WHERE job.id = slot.job_id)
           AND (status = 'queued'
                OR NOT EXISTS (SELECT
                                 FROM {schema}.schedule
                                WHERE schedule.name = slot.schedule AND schedule.enabled))
           FOR UPDATE SKIP LOCKED
      )
      UPDATE {schema}.slot
         SET status = 'failed', finished_at = {schema}.clock(),
             reason = CASE status WHEN 'queued' THEN 'its job was never stored'
                                  ELSE 'its worker vanished, and its schedule is no more'
                      END
       WHERE id = ANY (ARRAY (SELECT id FROM orphan))
      """;

  private static final String LATEST =
      """
      SELECT *
        FROM {schema}.slot
       WHERE schedule = :schedule AND scheduled_for < :before
       ORDER BY scheduled_for DESC
       LIMIT :limit
      """;

  private final Db db;

  public Slots(Db db) {
    this.db = db;
  }

  /** Takes the right to run for a moment; false when it is taken already. */
  public boolean take(
      Handle handle, String schedule, Instant slot, SlotStatus status, Optional<UUID> jobId) {
    return handle
            .createUpdate(db.sql(TAKE))
            .bind("schedule", schedule)
            .bind("scheduled_for", stored(slot))
            .bind("status", status.stored())
            .bind("job_id", jobId.orElse(null))
            .execute()
        == 1;
  }

  /** Writes down slots that do not run; returns how many of them were not taken before. */
  public int skip(Handle handle, String schedule, List<Skipped> skipped) {
    if (skipped.isEmpty()) {
      return 0;
    }
    return handle
        .createUpdate(db.sql(SKIP))
        .bind("schedule", schedule)
        .bindArray(
            "slots",
            OffsetDateTime.class,
            skipped.stream().map(each -> stored(each.scheduledFor)).toArray())
        .bindArray(
            "statuses", String.class, skipped.stream().map(each -> each.status.stored()).toArray())
        .bindArray("reasons", String.class, skipped.stream().map(Skipped::reason).toArray())
        .execute();
  }

  /** Which of these slots are taken. */
  public Set<Instant> taken(Handle handle, String schedule, List<Instant> slots) {
    return handle
        .createQuery(db.sql(TAKEN))
        .bind("schedule", schedule)
        .bindArray("slots", OffsetDateTime.class, slots.stream().map(Slots::stored).toArray())
        .map((row, context) -> Columns.instant(row, "scheduled_for"))
        .collectIntoSet();
  }

  /** How many slots of the schedule have not ended. */
  public int open(Handle handle, String schedule) {
    return handle.createQuery(db.sql(OPEN)).bind("schedule", schedule).mapTo(Integer.class).one();
  }

  /** The jobs of slots that have waited for a worker for longer than they may. */
  public List<UUID> neverStarted(String schedule, Duration grace) {
    return db.withHandle(handle ->
        handle
            .createQuery(db.sql(NEVER_STARTED))
            .bind("schedule", schedule)
            .bind("grace_ms", grace.toMillis())
            .mapTo(UUID.class)
            .list());
  }

  /** Updates the jobs' slots, in the transaction that moves the jobs, after the move. */
  public void follow(Handle handle, List<Moved> moved) {
    List<UUID> jobIds =
        moved.stream()
            .filter(move -> move.needs().maySerialiseASchedule())
            .map(Moved::jobId)
            .toList();
    if (!jobIds.isEmpty()) {
      handle
          .createUpdate(db.sql(FOLLOW))
          .bindArray("job_ids", UUID.class, jobIds)
          .bind("lease_lost", Failure.LEASE_LOST)
          .bind("misfire", MISFIRE)
          .execute();
    }
  }

  /** Gives up runs that take too long; returns how many. */
  public int giveUp(Handle handle, String schedule, Duration longest) {
    return handle
        .createUpdate(db.sql(GIVE_UP))
        .bind("schedule", schedule)
        .bind("longest_ms", longest.toMillis())
        .execute();
  }

  /** Ends runs that workers of these names began and that are no longer leased. */
  public Recovered recover(Collection<String> workers, Instant before) {
    return db.inTransaction(handle ->
        handle
            .createQuery(db.sql(RECOVER))
            .bindArray("workers", String.class, workers)
            .bind("before", stored(before))
            .bind("reason", RECOVERED)
            .map((row, context) -> new Recovered(row.getInt("runs"), row.getInt("still_leased")))
            .one());
  }

  /** Ends runs that nothing else would ever end; returns how many. */
  public int endOrphans() {
    return db.inTransaction(handle -> handle.createUpdate(db.sql(END_ORPHANS)).execute());
  }

  /** The schedule's slots before a moment, newest first. */
  public List<Slot> latest(String schedule, Instant before, int limit) {
    return db.withHandle(handle ->
        handle
            .createQuery(db.sql(LATEST))
            .bind("schedule", schedule)
            .bind("before", stored(before))
            .bind("limit", limit)
            .map((row, context) ->
                new Slot(
                    row.getString("schedule"),
                    Columns.instant(row, "scheduled_for"),
                    SlotStatus.of(row.getString("status")),
                    Columns.optionalText(row, "reason"),
                    Optional.ofNullable(row.getObject("job_id", UUID.class)),
                    Columns.optionalInstant(row, "started_at"),
                    Columns.optionalInstant(row, "finished_at")))
            .list());
  }

  private static OffsetDateTime stored(Instant moment) {
    return moment.atOffset(ZoneOffset.UTC);
  }
}
