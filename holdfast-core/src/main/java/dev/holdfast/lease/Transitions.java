package dev.holdfast.lease;

import dev.holdfast.job.Failure;
import dev.holdfast.job.JobIds;
import dev.holdfast.job.JobState;
import dev.holdfast.job.Lifecycle;
import dev.holdfast.job.Moved;
import dev.holdfast.job.Outcome;
import dev.holdfast.job.Payload;
import dev.holdfast.job.Transition;
import dev.holdfast.tenant.Db;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.UUID;
import java.util.function.Function;
import java.util.random.RandomGenerator;
import org.jdbi.v3.core.Handle;
import org.jdbi.v3.core.statement.Query;
import org.jspecify.annotations.Nullable;

/**
 * Writes what {@link Lifecycle} decided, for a whole batch at once. The only way an attempt ends: a
 * worker's report, the reaper and a handler's own transaction all come through here, and every row
 * is guarded by job, fence and state. Rows are locked in the order of their ids.
 */
final class Transitions {

  // The ids come sorted, so that width_bucket finds a row's place in the arrays by halving, and
  // each row is compared with its own fence. Not a join: for one of unknown size the planner reads
  // the whole table, or compares each row with each, depending on when it was last analysed.
  private static final String FINISH =
      """
      WITH ended AS MATERIALIZED (
        SELECT :job_ids AS job_ids, :fences AS fences, :states AS states, :outcomes AS outcomes,
               :failures AS failures, :error_codes AS error_codes,
               :error_messages AS error_messages, :log_excerpts AS log_excerpts,
               :results AS results
      ), gone AS (
        DELETE FROM {schema}.job
         WHERE id = ANY ((SELECT job_ids FROM ended)::uuid[])
           AND fence = ((SELECT fences FROM ended))
                         [width_bucket(id, (SELECT job_ids FROM ended))]
           AND state IN ('dispatched', 'running', 'stopping')
           AND (stop_as IS DISTINCT FROM 'paused'
                OR ((SELECT states FROM ended))
                     [width_bucket(id, (SELECT job_ids FROM ended))] <> 'cancelled')
        RETURNING *, width_bucket(id, (SELECT job_ids FROM ended)) AS place
      )
      INSERT INTO {schema}.job_done
             (id, seq, fence, run_at, created_at, started_at, finished_at, lane, attempt, failures,
              granted, state, attempt_outcome, worker, args, result, policy, tags,
              unique_scope, unique_key, resources, target, subject_type, subject_id,
              subject_during, error_code, error_message, log_excerpt,
              cursor, progress_count, result_count, percent, message, progress_at,
              input_tokens, output_tokens)
      SELECT gone.id, gone.seq, gone.fence, gone.run_at, gone.created_at, gone.started_at,
             {schema}.clock(), gone.lane, gone.attempt, gone.failures + ended.failures[place],
             gone.granted, ended.states[place], ended.outcomes[place], gone.worker, gone.args,
             ended.results[place]::json, gone.policy, gone.tags, gone.unique_scope, gone.unique_key,
             gone.resources, gone.target, gone.subject_type, gone.subject_id, gone.subject_during,
             ended.error_codes[place], ended.error_messages[place], ended.log_excerpts[place],
             gone.cursor, gone.progress_count, gone.result_count, gone.percent, gone.message,
             gone.progress_at, gone.input_tokens, gone.output_tokens
        FROM gone
       CROSS JOIN ended
      RETURNING id, fence
      """;

  // The row stays live, so the attempt that just ended goes to attempt. A job handed back at once
  // keeps its run_at, and with it its place. One that somebody asked to stop does not run again.
  private static final String SEND_BACK =
      """
      WITH ended AS MATERIALIZED (
        SELECT *
          FROM unnest((SELECT :job_ids), (SELECT :fences), (SELECT :states), (SELECT :outcomes),
                      (SELECT :failures), (SELECT :error_codes), (SELECT :error_messages),
                      (SELECT :log_excerpts), (SELECT :delays_ms), (SELECT :refunds))
            AS ended (job_id, fence, state, outcome, failures, error_code,
                      error_message, log_excerpt, delay_ms, refund)
      ), held AS MATERIALIZED (
        SELECT ended.*, job.attempt, job.started_at, job.worker
          FROM ended
         CROSS JOIN LATERAL (
           SELECT attempt, started_at, worker
             FROM {schema}.job
            WHERE job.id = ended.job_id
              AND job.fence = ended.fence
              AND job.state IN ('dispatched', 'running', 'stopping')
              AND NOT (job.state = 'stopping' AND ended.state = 'queued')
              AND NOT (coalesce(job.stop_as = 'cancelled', false) AND ended.state = 'paused')
              FOR UPDATE
         ) AS job
      ), sent AS (
        UPDATE {schema}.job
           SET state = held.state,
               run_at = CASE WHEN held.delay_ms = 0 THEN job.run_at
                             ELSE {schema}.clock() + held.delay_ms * interval '1 millisecond'
                         END,
               attempt = job.attempt - held.refund,
               failures = job.failures + held.failures,
               worker = NULL,
               lease_expires_at = NULL,
               times_out_at = NULL,
               stop_as = NULL,
               error_code = coalesce(held.error_code, job.error_code),
               error_message = coalesce(held.error_message, job.error_message)
          FROM held
         WHERE job.id = ANY (ARRAY (SELECT job_id FROM held)) -- through the primary key, always
           AND job.id = held.job_id
      )
      INSERT INTO {schema}.attempt
             (job_id, fence, number, started_at, finished_at, worker, outcome,
              error_code, error_message, log_excerpt)
      SELECT job_id, fence, attempt, started_at, {schema}.clock(), worker, outcome,
             error_code, error_message, log_excerpt
        FROM held
      RETURNING job_id AS id, fence
      """;

  // Ends that did not fit because somebody asked for the job to stop, and what it is to end as.
  private static final String STOPPING =
      """
      SELECT job.id, job.fence, job.stop_as
        FROM unnest((SELECT :job_ids), (SELECT :fences)) AS ended (job_id, fence)
       CROSS JOIN LATERAL (
         SELECT id, fence, stop_as
           FROM {schema}.job
          WHERE job.id = ended.job_id AND job.fence = ended.fence AND job.state = 'stopping'
            FOR UPDATE
       ) AS job
      """;

  // An end reported twice: the answer to the first got lost, or another tenant's part of the batch
  // failed. Only the same end counts, not what the reaper recorded for a silent worker.
  private static final String ALREADY_RECORDED =
      """
      SELECT ended.job_id AS id, ended.fence
        FROM unnest((SELECT :job_ids), (SELECT :fences), (SELECT :outcomes))
          AS ended (job_id, fence, outcome)
       WHERE EXISTS (SELECT FROM {schema}.job_done AS done
                      WHERE done.id = ended.job_id AND done.fence = ended.fence
                        AND done.attempt_outcome = ended.outcome)
          OR EXISTS (SELECT FROM {schema}.attempt
                      WHERE attempt.job_id = ended.job_id AND attempt.fence = ended.fence
                        AND attempt.outcome = ended.outcome)
      """;

  private static final int SENT_AT_ONCE = 50;

  // Of two leases of one job only the later can be good, and the last of equals is the one found.
  private static final Comparator<Ended> BY_JOB =
      Comparator.comparing((Ended end) -> end.key().jobId(), JobIds.ORDER)
          .thenComparingLong(end -> end.key().fence());

  /**
   * An attempt and what was decided about it.
   *
   * @param stopped its worker said so itself; otherwise the work may be going on somewhere
   */
  record Ended(Lease lease, Transition transition, boolean stopped) {

    /** As its worker says. */
    static Ended reported(Finish finish, RandomGenerator dice) {
      return new Ended(finish.lease(), next(finish.lease(), finish.outcome(), dice), true);
    }

    /** As the reaper says, in place of a silent worker. */
    static Ended silent(Lease lease, Outcome outcome, RandomGenerator dice) {
      return new Ended(lease, next(lease, outcome, dice), false);
    }

    private static Transition next(Lease lease, Outcome outcome, RandomGenerator dice) {
      return Lifecycle.next(lease.attempt(), lease.policy(), outcome, dice);
    }

    /** The same attempt of a job that turned out to be asked to stop. */
    Ended asStopped(Optional<JobState> wanted) {
      return new Ended(lease, Lifecycle.stopped(lease.policy(), wanted), stopped);
    }

    LeaseKey key() {
      return lease.key();
    }

    boolean finishesJob() {
      return transition.to().isFinished();
    }

    Moved moved(JobState to) {
      return new Moved(
          key().jobId(),
          lease.kind(),
          lease.queue(),
          lease.needs(),
          JobState.RUNNING,
          to,
          key().fence());
    }

    boolean isGuarded() {
      return !lease.needs().isNothing();
    }

    @Nullable String errorCode() {
      return transition.failure().map(Failure::code).orElse(null);
    }

    @Nullable String errorMessage() {
      return transition.failure().map(Failure::message).orElse(null);
    }

    @Nullable String logExcerpt() {
      return transition.failure().flatMap(Failure::logExcerpt).orElse(null);
    }

    @Nullable String result() {
      return transition.result().equals(Payload.NULL) ? null : transition.result().json();
    }
  }

  /**
   * What was written.
   *
   * @param woken how many jobs can be claimed now because of it
   */
  record Applied(List<FinishReply> replies, int woken) {}

  private final Db db;
  private final Aftermath aftermath;
  private final Consequences consequences;
  private final String finish;
  private final String sendBack;
  private final String stopping;
  private final String alreadyRecorded;

  Transitions(Db db, Consequences consequences) {
    this.consequences = consequences;
    this.db = db;
    this.aftermath = new Aftermath(db);
    this.finish = db.sql(FINISH);
    this.sendBack = db.sql(SEND_BACK);
    this.stopping = db.sql(STOPPING);
    this.alreadyRecorded = db.sql(ALREADY_RECORDED);
  }

  /** In a transaction of its own; what an earlier call recorded already is recorded. */
  Applied apply(List<Ended> ended) {
    // One statement is a transaction already; most batches are nothing but plain successes.
    boolean plain =
        !consequences.isHooked()
            && ended.stream().allMatch(end -> end.finishesJob() && !end.isGuarded());
    Applied applied =
        plain
            ? db.withHandle(handle -> apply(handle, ended))
            : db.inTransaction(handle -> apply(handle, ended));
    boolean all = applied.replies.stream().allMatch(FinishReply.Recorded.class::isInstance);
    return all ? applied : new Applied(withRepeats(ended, applied.replies), applied.woken);
  }

  private List<FinishReply> withRepeats(List<Ended> ended, List<FinishReply> replies) {
    Set<LeaseKey> recorded = db.withHandle(handle -> alreadyRecorded(handle, ended));
    List<FinishReply> answers = new ArrayList<>(replies);
    for (int i = 0; i < ended.size(); i++) {
      if (recorded.contains(ended.get(i).key())) {
        answers.set(i, new FinishReply.Recorded(ended.get(i).transition().to()));
      }
    }
    return answers;
  }

  private Set<LeaseKey> alreadyRecorded(Handle handle, List<Ended> ended) {
    Query query = handle.createQuery(alreadyRecorded);
    bind(query, "job_ids", UUID.class, ended, end -> end.key().jobId());
    bind(query, "fences", Long.class, ended, end -> end.key().fence());
    bind(query, "outcomes", String.class, ended, end -> end.transition().attemptOutcome());
    return new HashSet<>(keys(query, ended));
  }

  /** In the caller's transaction. */
  Applied apply(Handle handle, List<Ended> ended) {
    List<Ended> guarded = ended.stream().filter(Ended::isGuarded).toList();
    aftermath.lock(handle, guarded);
    Map<LeaseKey, JobState> recorded = write(handle, ended);
    List<Ended> unfit = ended.stream().filter(end -> !recorded.containsKey(end.key())).toList();
    if (!unfit.isEmpty()) {
      recorded.putAll(write(handle, stopping(handle, unfit)));
    }
    int woken = guarded.isEmpty() ? 0 : aftermath.settle(handle, guarded, recorded);
    consequences.moved(
        handle,
        ended.stream()
            .flatMap(end -> Optional.ofNullable(recorded.get(end.key())).map(end::moved).stream())
            .toList());
    return new Applied(ended.stream().map(end -> reply(recorded.get(end.key()))).toList(), woken);
  }

  private List<Ended> stopping(Handle handle, List<Ended> unfit) {
    Query query = handle.createQuery(stopping);
    List<Ended> inOrder = unfit.stream().sorted(BY_JOB).toList();
    bind(query, "job_ids", UUID.class, inOrder, end -> end.key().jobId());
    bind(query, "fences", Long.class, inOrder, end -> end.key().fence());
    String tenant = unfit.getFirst().key().tenant();
    Map<LeaseKey, Optional<JobState>> wanted =
        query.reduceRows(
            new HashMap<>(),
            (found, row) -> {
              found.put(
                  new LeaseKey(
                      tenant, row.getColumn("id", UUID.class), row.getColumn("fence", Long.class)),
                  Optional.ofNullable(row.getColumn("stop_as", String.class)).map(JobState::of));
              return found;
            });
    return unfit.stream()
        .flatMap(end -> Optional.ofNullable(wanted.get(end.key())).map(end::asStopped).stream())
        .toList();
  }

  private static FinishReply reply(@Nullable JobState recorded) {
    return recorded == null ? new FinishReply.Lost() : new FinishReply.Recorded(recorded);
  }

  private Map<LeaseKey, JobState> write(Handle handle, List<Ended> ended) {
    List<Ended> inOrder = ended.stream().sorted(BY_JOB).toList();
    Set<LeaseKey> written = new HashSet<>();
    written.addAll(finish(handle, inOrder.stream().filter(Ended::finishesJob).toList()));
    written.addAll(sendBack(handle, inOrder.stream().filter(end -> !end.finishesJob()).toList()));
    Map<LeaseKey, JobState> recorded = new HashMap<>();
    ended.stream()
        .filter(end -> written.contains(end.key()))
        .forEach(end -> recorded.put(end.key(), end.transition().to()));
    return recorded;
  }

  private List<LeaseKey> finish(Handle handle, List<Ended> ended) {
    if (ended.isEmpty()) {
      return List.of();
    }
    Query query = handle.createQuery(finish);
    bindEnds(query, ended);
    bind(query, "results", String.class, ended, Ended::result);
    return keys(query, ended);
  }

  // In small portions: an update cannot look its rows up LATERAL, and the join it needs instead may
  // compare each with each.
  private List<LeaseKey> sendBack(Handle handle, List<Ended> ended) {
    List<LeaseKey> written = new ArrayList<>();
    for (int from = 0; from < ended.size(); from += SENT_AT_ONCE) {
      List<Ended> portion = ended.subList(from, Math.min(from + SENT_AT_ONCE, ended.size()));
      Query query = handle.createQuery(sendBack);
      bindEnds(query, portion);
      bind(query, "delays_ms", Long.class, portion, end -> end.transition().delay().toMillis());
      bind(
          query,
          "refunds",
          Integer.class,
          portion,
          end -> end.transition().refundsAttempt() ? 1 : 0);
      written.addAll(keys(query, portion));
    }
    return written;
  }

  private static void bindEnds(Query query, List<Ended> ended) {
    bind(query, "job_ids", UUID.class, ended, end -> end.key().jobId());
    bind(query, "fences", Long.class, ended, end -> end.key().fence());
    bind(query, "states", String.class, ended, end -> end.transition().to().stored());
    bind(query, "outcomes", String.class, ended, end -> end.transition().attemptOutcome());
    bind(
        query, "failures", Integer.class, ended, end -> end.transition().countsAsFailure() ? 1 : 0);
    bind(query, "error_codes", String.class, ended, Ended::errorCode);
    bind(query, "error_messages", String.class, ended, Ended::errorMessage);
    bind(query, "log_excerpts", String.class, ended, Ended::logExcerpt);
  }

  private static List<LeaseKey> keys(Query query, List<Ended> ended) {
    String tenant = ended.getFirst().key().tenant();
    return query
        .map((row, context) ->
            new LeaseKey(tenant, row.getObject("id", UUID.class), row.getLong("fence")))
        .list();
  }

  private static <T> void bind(
      Query query,
      String name,
      Class<T> type,
      List<Ended> ended,
      Function<Ended, @Nullable T> column) {
    query.bindArray(name, type, ended.stream().map(column).toArray());
  }
}
