package dev.holdfast.queue;

import dev.holdfast.error.ErrorCode;
import dev.holdfast.error.HoldfastException;
import dev.holdfast.job.Job;
import dev.holdfast.job.JobState;
import dev.holdfast.job.Payload;
import dev.holdfast.tenant.Db;
import java.util.Optional;
import java.util.UUID;
import org.jdbi.v3.core.Handle;
import org.jdbi.v3.core.Jdbi;
import org.jdbi.v3.core.statement.Update;
import org.jspecify.annotations.Nullable;

/**
 * How people's acts are written: each statement guarded by the job and the state, and fence, that
 * {@link #lock} found it in.
 */
final class Moves {

  private static final String GET =
      """
      SELECT * FROM {schema}.job_all WHERE id = :id
      """;

  private static final String LOCK_LIVE =
      """
      SELECT id FROM {schema}.job WHERE id = :id FOR UPDATE
      """;

  private static final String LOCK_DONE =
      """
      SELECT id FROM {schema}.job_done WHERE id = :id FOR UPDATE
      """;

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
         SET state = 'stopping', stop_as = coalesce(:stop_as, stop_as)
       WHERE id = :id AND fence = :fence AND state = :from
      """;

  private static final String FINISH =
      """
      WITH gone AS (
        DELETE FROM {schema}.job WHERE id = :id AND fence = :fence AND state = :from
        RETURNING *
      )
      INSERT INTO {schema}.job_done
             (id, seq, fence, run_at, created_at, started_at, finished_at, lane, attempt, failures,
              granted, state, args, result, policy, tags, unique_scope, unique_key,
              resources, target, subject_type, subject_id, subject_during,
              error_code, error_message,
              cursor, progress_count, result_count, percent, message, progress_at,
              input_tokens, output_tokens)
      SELECT id, seq, fence, run_at, created_at, started_at, {schema}.clock(), lane, attempt,
             failures, granted, :to, args, :result::json, policy, tags, unique_scope, unique_key,
             resources, target, subject_type, subject_id, subject_during,
             :error_code, :error_message,
             cursor, progress_count, result_count, percent, message, progress_at,
             input_tokens, output_tokens
        FROM gone
      """;

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

  private static final String REVIVE =
      """
      WITH back AS (
        DELETE FROM {schema}.job_done WHERE id = :id AND fence = :fence AND state = :from
        RETURNING *
      )
      INSERT INTO {schema}.job
             (id, seq, fence, run_at, created_at, started_at, lane, attempt, failures, granted,
              state, args, policy, tags, unique_scope, unique_key,
              resources, target, subject_type, subject_id, subject_during,
              error_code, error_message,
              cursor, progress_count, result_count, percent, message, progress_at,
              input_tokens, output_tokens)
      OVERRIDING SYSTEM VALUE
      SELECT id, seq, fence, run_at, created_at, started_at, lane, attempt, failures,
             granted + :grant, 'queued', args, policy, tags, unique_scope, unique_key,
             resources, target, subject_type, subject_id, subject_during,
             error_code, error_message,
             cursor, progress_count, result_count, percent, message, progress_at,
             input_tokens, output_tokens
        FROM back
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

  private final Jdbi jdbi;
  private final String get;
  private final String lockLive;
  private final String lockDone;
  private final String set;
  private final String requestStop;
  private final String finish;
  private final String keepLastAttempt;
  private final String revive;
  private final String resolve;

  Moves(Db db) {
    this.jdbi = db.jdbi();
    this.get = db.sql(GET);
    this.lockLive = db.sql(LOCK_LIVE);
    this.lockDone = db.sql(LOCK_DONE);
    this.set = db.sql(SET);
    this.requestStop = db.sql(REQUEST_STOP);
    this.finish = db.sql(FINISH);
    this.keepLastAttempt = db.sql(KEEP_LAST_ATTEMPT);
    this.revive = db.sql(REVIVE);
    this.resolve = db.sql(RESOLVE);
  }

  Optional<Job> find(UUID id) {
    return jdbi.withHandle(handle -> find(handle, id));
  }

  Job get(Handle handle, UUID id) {
    return find(handle, id).orElseThrow();
  }

  /** The job, which from now on nobody else can change; its resources are locked before. */
  Optional<Job> lock(Handle handle, UUID id) {
    // Twice, because it may move to the other table while its row is waited for.
    for (int i = 0; i < 2; i++) {
      if (isThere(handle, lockLive, id) || isThere(handle, lockDone, id)) {
        return find(handle, id);
      }
    }
    return Optional.empty();
  }

  private static boolean isThere(Handle handle, String sql, UUID id) {
    return handle.createQuery(sql).bind("id", id).mapTo(UUID.class).findOne().isPresent();
  }

  private Optional<Job> find(Handle handle, UUID id) {
    return handle.createQuery(get).bind("id", id).map(JobMapper.JOB).findOne();
  }

  /** A job that nobody runs goes into another state in which nobody runs it. */
  void set(Handle handle, Job job, JobState to, int grant) {
    execute(handle.createUpdate(set).bind("to", to.stored()).bind("grant", grant), job);
  }

  /** Its worker hears of it with the next beat. Asked again, the last word counts. */
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

  /** A finished job is to run again. */
  void revive(Handle handle, Job job, int grant) {
    keepLastAttempt(handle, job);
    execute(handle.createUpdate(revive).bind("grant", grant), job);
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
      // Its row is locked and was just read, so this cannot be.
      throw new HoldfastException(
          ErrorCode.STATE_CONFLICT, "job " + job.id() + " is no longer " + job.state().stored());
    }
  }
}
