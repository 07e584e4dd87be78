package dev.holdfast.queue;

import dev.holdfast.hold.Holds;
import dev.holdfast.job.Job;
import dev.holdfast.job.JobState;
import dev.holdfast.job.Payload;
import dev.holdfast.tenant.Columns;
import dev.holdfast.tenant.Db;
import dev.holdfast.tenant.SqlErrors;
import java.time.OffsetDateTime;
import java.util.List;
import java.util.Optional;
import org.jdbi.v3.core.Handle;
import org.jdbi.v3.core.JdbiException;
import org.jdbi.v3.core.statement.Update;
import org.jspecify.annotations.Nullable;

/**
 * The statements of people's acts. Each is guarded by the id, fence and state in which {@link
 * JobReader#lock} found the job.
 */
final class ActStatements {

  private static final String SET =
      """
      UPDATE {schema}.job
         SET state = :to,
             granted = granted + :grant,
             waiting_on = NULL,
             waiting_since = NULL,
             passed_over = NULL
       WHERE id = :id AND fence = :fence AND state = :from
      """;

  private static final String REQUEST_STOP =
      """
      UPDATE {schema}.job
         SET state = 'stopping',
             stop_as = CASE WHEN stop_as = 'cancelled' THEN stop_as
                            WHEN stop_as = 'failed' AND :stop_as IS DISTINCT FROM 'cancelled'
                            THEN stop_as
                            ELSE :stop_as
                        END
       WHERE id = :id AND fence = :fence AND state = :from
      """;

  private static final String FINISH =
      """
      WITH gone AS (
        DELETE FROM {schema}.job WHERE id = :id AND fence = :fence AND state = :from
        RETURNING *
      )
      INSERT INTO {schema}.job_done
             ({carried}, run_at, granted, failures, finished_at, state, result, error_code,
              error_message)
      SELECT {carried}, run_at, granted, failures, {schema}.clock(), :to, :result::json,
             :error_code, :error_message
        FROM gone
      """
          .replace("{carried}", Columns.CARRIED);

  // A finished job's own row holds the facts of its last attempt. Before an act removes or
  // overwrites them, they are copied into the history of attempts.
  private static final String KEEP_LAST_ATTEMPT =
      """
      INSERT INTO {schema}.attempt
             (job_id, fence, number, started_at, finished_at, worker, outcome,
              error_code, error_message, log_excerpt)
      SELECT id, fence, attempt, started_at, finished_at, worker, attempt_outcome,
             error_code, error_message, log_excerpt
        FROM {schema}.job_done
       WHERE id = :id AND fence = :fence AND state = :from AND attempt_outcome IS NOT NULL
      """;

  // A caller's open transaction may be enqueueing the same id or unique key, and REVIVE would wait
  // for it. But by now this act has locked the job's resources, which that transaction may need to
  // end, and which the ends of all attempts that hold them need.
  private static final String WAIT_BRIEFLY =
      "SET LOCAL lock_timeout = %d".formatted(Holds.SOON.toMillis());

  private static final String REVIVE =
      """
      WITH back AS (
        DELETE FROM {schema}.job_done WHERE id = :id AND fence = :fence AND state = :from
        RETURNING *
      )
      INSERT INTO {schema}.job
             ({carried}, run_at, granted, failures, state, error_code, error_message)
      OVERRIDING SYSTEM VALUE
      SELECT {carried}, CASE WHEN :now THEN {schema}.clock() ELSE run_at END, granted + :grant,
             failures, 'queued', error_code, error_message
        FROM back
      """
          .replace("{carried}", Columns.CARRIED);

  private static final String RESTATE =
      """
      UPDATE {schema}.job_done
         SET state = :to, finished_at = {schema}.clock(), result = NULL,
             attempt_outcome = NULL, worker = NULL, error_code = :error_code,
             error_message = :error_message, log_excerpt = NULL
       WHERE id = :id AND fence = :fence AND state = :from
      """;

  private static final String CHANGE =
      """
      UPDATE {schema}.job
         SET run_at = coalesce(:run_at, run_at),
             lane = coalesce(:lane, lane),
             tags = coalesce(:tags, tags),
             waiting_on = NULL,
             waiting_since = NULL,
             passed_over = NULL
       WHERE id = :id AND fence = :fence AND state = :from
      """;

  // The time for which a preferred host is offered the job first counts from run_at, so it begins
  // now, or when a delayed job is due.
  private static final String PLACE =
      """
      UPDATE {schema}.job
         SET run_at = greatest(run_at, {schema}.clock()),
             lane = :lane,
             waiting_on = NULL,
             waiting_since = NULL,
             passed_over = NULL
       WHERE id = :id AND fence = :fence AND state = :from
      """;

  private static final String DELETE =
      """
      WITH job AS (
        DELETE FROM {schema}.job_done WHERE id = :id AND fence = :fence AND state = :from
        RETURNING id
      ), attempts AS (
        DELETE FROM {schema}.attempt WHERE job_id IN (SELECT id FROM job)
      ), items AS (
        DELETE FROM {schema}.job_item WHERE job_id IN (SELECT id FROM job)
      ), keys AS (
        DELETE FROM {schema}.idempotency WHERE job_id IN (SELECT id FROM job)
      )
      DELETE FROM {schema}.job_log WHERE job_id IN (SELECT id FROM job)
      """;

  private static final String RESOLVE =
      """
      UPDATE {schema}.job_done
         SET state = 'succeeded', finished_at = {schema}.clock(), result = :result::json,
             attempt_outcome = NULL, worker = NULL, error_code = NULL, error_message = NULL,
             log_excerpt = NULL
       WHERE id = :id AND fence = :fence AND state = :from
      """;

  /** How a job that no worker has ends. */
  record End(JobState state, @Nullable String code, @Nullable String message, Payload result) {

    End(JobState state, String code, String message) {
      this(state, code, message, Payload.NULL);
    }

    static End succeeded(Payload result) {
      return new End(JobState.SUCCEEDED, null, null, result);
    }
  }

  private final String set;
  private final String requestStop;
  private final String finish;
  private final String keepLastAttempt;
  private final String revive;
  private final String restate;
  private final String change;
  private final String place;
  private final String delete;
  private final String resolve;

  ActStatements(Db db) {
    this.set = db.sql(SET);
    this.requestStop = db.sql(REQUEST_STOP);
    this.finish = db.sql(FINISH);
    this.keepLastAttempt = db.sql(KEEP_LAST_ATTEMPT);
    this.revive = db.sql(REVIVE);
    this.restate = db.sql(RESTATE);
    this.change = db.sql(CHANGE);
    this.place = db.sql(PLACE);
    this.delete = db.sql(DELETE);
    this.resolve = db.sql(RESOLVE);
  }

  /** Moves a job that no worker has to another state in which no worker has it. */
  void set(Handle handle, Job job, JobState to, int grant) {
    execute(handle.createUpdate(set).bind("to", to.stored()).bind("grant", grant), job);
  }

  /**
   * Asks a running job to stop; its worker hears of it with the next heartbeat. The last request
   * decides, but a cancellation stays, and a job past its token limit can only be cancelled.
   *
   * @param stopAs what the job is to end as; empty leaves that to its policy
   */
  void requestStop(Handle handle, Job job, Optional<JobState> stopAs) {
    execute(
        handle.createUpdate(requestStop).bind("stop_as", stopAs.map(JobState::stored).orElse(null)),
        job);
  }

  /** Finishes a job that no worker has. */
  void finish(Handle handle, Job job, End end) {
    execute(
        handle
            .createUpdate(finish)
            .bind("to", end.state.stored())
            .bind("error_code", end.code)
            .bind("error_message", end.message)
            .bind("result", end.result.equals(Payload.NULL) ? null : end.result.json()),
        job);
  }

  /**
   * Sends a finished job back to the queue.
   *
   * @param grant how many attempts are added
   * @param now whether it is due now, instead of at its old place
   */
  void revive(Handle handle, Job job, int grant, boolean now) {
    keepLastAttempt(handle, job);
    handle.execute(WAIT_BRIEFLY);
    try {
      execute(handle.createUpdate(revive).bind("grant", grant).bind("now", now), job);
    } catch (JdbiException e) {
      throw SqlErrors.isLockTimeout(e) ? Refusals.beingEnqueued(job, e) : e;
    }
    handle.execute("SET LOCAL lock_timeout TO DEFAULT");
  }

  /** Gives a finished job another end. */
  void restate(Handle handle, Job job, End end) {
    keepLastAttempt(handle, job);
    execute(
        handle
            .createUpdate(restate)
            .bind("to", end.state.stored())
            .bind("error_code", end.code)
            .bind("error_message", end.message),
        job);
  }

  /** Gives a waiting job another time, lane or tags; null leaves the value as it is. */
  void change(
      Handle handle,
      Job job,
      @Nullable OffsetDateTime runAt,
      @Nullable Long lane,
      @Nullable List<String> tags) {
    execute(
        handle
            .createUpdate(change)
            .bindByType("run_at", runAt, OffsetDateTime.class)
            .bindByType("lane", lane, Long.class)
            .bindByType("tags", tags == null ? null : tags.toArray(String[]::new), String[].class),
        job);
  }

  /** Moves a waiting job to a lane for other hosts; due now, unless its time is still to come. */
  void place(Handle handle, Job job, long lane) {
    execute(handle.createUpdate(place).bind("lane", lane), job);
  }

  /** Deletes a finished job with its attempts, items, idempotency keys and logs. */
  void delete(Handle handle, Job job) {
    guarded(handle.createUpdate(delete), job).execute();
  }

  /** Turns a failed job into a succeeded one. */
  void resolve(Handle handle, Job job, Payload result) {
    keepLastAttempt(handle, job);
    execute(handle.createUpdate(resolve).bind("result", result.json()), job);
  }

  private void keepLastAttempt(Handle handle, Job job) {
    guarded(handle.createUpdate(keepLastAttempt), job).execute();
  }

  private static Update guarded(Update update, Job job) {
    return update
        .bind("id", job.id())
        .bind("fence", job.fence())
        .bind("from", job.state().stored());
  }

  private static void execute(Update update, Job job) {
    if (guarded(update, job).execute() != 1) {
      throw Refusals.noLongerThere(job); // impossible: the row is locked and was just read
    }
  }
}
