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
 * How people's acts are written: each statement guarded by the job and the state, and fence, that
 * {@link JobReader#lock} found it in.
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
                            WHEN stop_as = 'failed' AND :stop_as = 'paused' THEN stop_as
                            ELSE coalesce(:stop_as, stop_as)
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

  // The last attempt's facts stand with the finished job; they stay in the history when it leaves.
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

  // Somebody's open transaction may be enqueueing the same id or unique key. We have the locks of
  // the job's resources by now, which its end may need, or those of all the others that hold them.
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

  // Its turn begins now: a host that it prefers is to be offered it first.
  private static final String PLACE =
      """
      UPDATE {schema}.job
         SET run_at = {schema}.clock(),
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

  /** What a job that nobody runs ends as. */
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

  /** A job that nobody runs goes into another state in which nobody runs it. */
  void set(Handle handle, Job job, JobState to, int grant) {
    execute(handle.createUpdate(set).bind("to", to.stored()).bind("grant", grant), job);
  }

  /**
   * Its worker hears of it with the next beat. Who asks last decides, but a cancellation stays, and
   * one that is over its limit of tokens is not paused.
   */
  void requestStop(Handle handle, Job job, Optional<JobState> stopAs) {
    execute(
        handle.createUpdate(requestStop).bind("stop_as", stopAs.map(JobState::stored).orElse(null)),
        job);
  }

  /** A job that nobody runs is over. */
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
   * A finished job is to run again.
   *
   * @param now instead of at its old place in line
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

  /** A finished job ended otherwise, on somebody's word. */
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

  /** A waiting job gets another time, lane or tags; what is null stays. */
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

  /** A waiting job is for other hosts. */
  void place(Handle handle, Job job, long lane) {
    execute(handle.createUpdate(place).bind("lane", lane), job);
  }

  /** A finished job, with everything that is known about it. */
  void delete(Handle handle, Job job) {
    guarded(handle.createUpdate(delete), job).execute();
  }

  /** A failed job has succeeded after all. */
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
      throw Refusals.noLongerThere(job); // its row is locked and was just read, so this cannot be
    }
  }
}
