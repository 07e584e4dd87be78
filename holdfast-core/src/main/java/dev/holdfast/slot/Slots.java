package dev.holdfast.slot;

import dev.holdfast.job.Failure;
import dev.holdfast.job.JobState;
import dev.holdfast.job.Moved;
import dev.holdfast.tenant.Columns;
import dev.holdfast.tenant.Db;
import java.time.Duration;
import java.time.Instant;
import java.time.OffsetDateTime;
import java.time.ZoneOffset;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.UUID;
import org.jdbi.v3.core.Handle;

/**
 * The rows of slots. That there is one for a moment is the right to run for it, and nobody can have
 * it twice. They follow their jobs in the same transactions, and outlive them.
 */
public final class Slots {

  /** What the recovery at a worker's start writes, word for word. */
  public static final String RECOVERED = "worker_startup_recovery";

  private static final Set<JobState> FOLLOWED =
      Set.of(JobState.RUNNING, JobState.SUCCEEDED, JobState.FAILED, JobState.CANCELLED);

  private static final String TAKE =
      """
      INSERT INTO {schema}.slot (schedule, scheduled_for, status, reason, job_id, decided_at)
      VALUES (:schedule, :scheduled_for, :status, :reason, :job_id::uuid, {schema}.clock())
      ON CONFLICT DO NOTHING
      """;

  private static final String OPEN =
      """
      SELECT count(*)
        FROM {schema}.slot
       WHERE schedule = :schedule AND status IN ('queued', 'running')
      """;

  // Of a worker that vanished nobody has reported the end; the document leaves such a run as it is
  // until the next slot finds it, or the worker's next start.
  private static final String FOLLOW =
      """
      UPDATE {schema}.slot
         SET status = CASE job.state WHEN 'succeeded' THEN 'ran'
                                     WHEN 'failed' THEN 'failed'
                                     WHEN 'cancelled' THEN 'failed'
                                     ELSE 'running'
                       END,
             started_at = coalesce(job.started_at, slot.started_at),
             finished_at = job.finished_at,
             worker = coalesce(job.worker, slot.worker),
             reason = CASE WHEN job.state = 'cancelled' THEN coalesce(job.error_message, 'cancelled')
                           ELSE job.error_message
                       END
        FROM {schema}.job_all AS job
       WHERE slot.job_id = ANY (:job_ids)
         AND job.id = slot.job_id
         AND slot.status <> 'skipped_timeout'
         AND NOT (job.state = 'failed' AND job.error_code = :lease_lost)
      """;

  private static final String GIVE_UP =
      """
      UPDATE {schema}.slot
         SET status = 'skipped_timeout', finished_at = {schema}.clock(),
             reason = format('still running after %s seconds', :longest_ms / 1000)
       WHERE schedule = :schedule
         AND status = 'running'
         AND started_at < {schema}.clock() - :longest_ms * interval '1 millisecond'
      """;

  private static final String RECOVER =
      """
      UPDATE {schema}.slot
         SET status = 'failed', finished_at = {schema}.clock(), reason = :reason
       WHERE status = 'running' AND worker = ANY (:workers) AND started_at <= :before
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
  private final String take;
  private final String open;
  private final String follow;
  private final String giveUp;
  private final String recover;
  private final String latest;

  public Slots(Db db) {
    this.db = db;
    this.take = db.sql(TAKE);
    this.open = db.sql(OPEN);
    this.follow = db.sql(FOLLOW);
    this.giveUp = db.sql(GIVE_UP);
    this.recover = db.sql(RECOVER);
    this.latest = db.sql(LATEST);
  }

  /** The right to decide about a slot; false when somebody has it already. */
  public boolean take(
      Handle handle,
      String schedule,
      Instant scheduledFor,
      SlotStatus status,
      Optional<String> reason,
      Optional<UUID> jobId) {
    return handle
            .createUpdate(take)
            .bind("schedule", schedule)
            .bind("scheduled_for", stored(scheduledFor))
            .bind("status", status.stored())
            .bind("reason", reason.orElse(null))
            .bind("job_id", jobId.orElse(null))
            .execute()
        == 1;
  }

  /** How many have not ended. */
  public int open(Handle handle, String schedule) {
    return handle.createQuery(open).bind("schedule", schedule).mapTo(Integer.class).one();
  }

  /** In the transaction that moves the jobs, after it did. */
  public void follow(Handle handle, List<Moved> moved) {
    List<UUID> jobIds =
        moved.stream()
            .filter(move -> FOLLOWED.contains(move.to()))
            .filter(move -> move.needs().schedule().isPresent())
            .map(Moved::jobId)
            .sorted() // one order for all who lock slots
            .toList();
    if (!jobIds.isEmpty()) {
      handle
          .createUpdate(follow)
          .bindArray("job_ids", UUID.class, jobIds)
          .bind("lease_lost", Failure.LEASE_LOST)
          .execute();
    }
  }

  /** Gives up runs that take too long; answers how many. */
  public int giveUp(Handle handle, String schedule, Duration longest) {
    return handle
        .createUpdate(giveUp)
        .bind("schedule", schedule)
        .bind("longest_ms", longest.toMillis())
        .execute();
  }

  /** Ends runs of workers that are dead; answers how many. */
  public int recover(List<String> workers, Instant before) {
    return db.withHandle(handle ->
        handle
            .createUpdate(recover)
            .bindArray("workers", String.class, workers)
            .bind("before", stored(before))
            .bind("reason", RECOVERED)
            .execute());
  }

  /** Newest first. */
  public List<Slot> latest(String schedule, Instant before, int limit) {
    return db.withHandle(handle ->
        handle
            .createQuery(latest)
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
