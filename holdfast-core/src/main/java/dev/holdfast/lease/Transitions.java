package dev.holdfast.lease;

import dev.holdfast.job.JobState;
import dev.holdfast.job.Lifecycle;
import dev.holdfast.job.Moved;
import dev.holdfast.outbox.Outbox;
import dev.holdfast.slot.Slots;
import dev.holdfast.tenant.Columns;
import dev.holdfast.tenant.Db;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.stream.IntStream;
import org.jdbi.v3.core.Handle;
import org.jdbi.v3.core.statement.Query;
import org.jspecify.annotations.Nullable;

/**
 * Writes what {@link Lifecycle} decided, for a whole batch at once. Every attempt ends here: a
 * worker's report, the reaper and a handler's own transaction all use this class, and every row is
 * guarded by job, fence and state. Rows are locked in the order of their ids, those of jobs that
 * finish before those of jobs that go back.
 */
public final class Transitions {

  // The ids come sorted, so that width_bucket finds a row's place in the arrays by binary search,
  // and each row is compared with its own fence. Not a join: for a join of unknown size the planner
  // reads the whole table, or compares each row with each, depending on when the table was last
  // analysed.
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
           AND CASE stop_as
                 WHEN 'paused' THEN ((SELECT states FROM ended))
                                      [width_bucket(id, (SELECT job_ids FROM ended))] <> 'cancelled'
                 -- Only as Stops.asWanted has it, which says what it fails by.
                 WHEN 'failed' THEN ((SELECT states FROM ended))
                                      [width_bucket(id, (SELECT job_ids FROM ended))] = 'failed'
                                    AND ((SELECT outcomes FROM ended))
                                      [width_bucket(id, (SELECT job_ids FROM ended))] = 'stopped'
                 ELSE true
               END
        RETURNING *, width_bucket(id, (SELECT job_ids FROM ended)) AS place
      )
      INSERT INTO {schema}.job_done
             ({carried}, run_at, granted, worker, finished_at, failures, state, attempt_outcome,
              result, error_code, error_message, log_excerpt)
      SELECT {carried}, run_at, granted, worker, {schema}.clock(),
             failures + ((SELECT failures FROM ended))[place],
             ((SELECT states FROM ended))[place], ((SELECT outcomes FROM ended))[place],
             ((SELECT results FROM ended))[place]::json,
             ((SELECT error_codes FROM ended))[place],
             ((SELECT error_messages FROM ended))[place],
             ((SELECT log_excerpts FROM ended))[place]
        FROM gone
      RETURNING id, fence
      """
          .replace("{carried}", Columns.CARRIED);

  // The row stays in job, so the attempt that just ended goes to attempt. A job that is handed back
  // at once keeps its run_at, and with it its place. A job that was asked to stop is not queued
  // again.
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
              AND NOT (ended.state = 'paused'
                       AND coalesce(job.stop_as IN ('cancelled', 'failed'), false))
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
               lease_ms = NULL,
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

  private static final int SENT_AT_ONCE = 50;

  /**
   * What was written.
   *
   * @param woken how many parked jobs were woken; jobs that it sent back to the queue do not count
   */
  public record Applied(List<FinishReply> replies, int woken) {}

  private final Db db;
  private final Successes successes;
  private final Aftermath aftermath;
  private final Stops stops;
  private final Repeats repeats;
  private final Slots slots;
  private final Outbox outbox;
  private final Consequences consequences;
  private final String finish;
  private final String sendBack;

  public Transitions(Db db, Consequences consequences) {
    this.consequences = consequences;
    this.db = db;
    this.successes = new Successes(db);
    this.aftermath = new Aftermath(db);
    this.stops = new Stops(db);
    this.repeats = new Repeats(db);
    this.slots = new Slots(db);
    this.outbox = new Outbox(db);
    this.finish = db.sql(FINISH);
    this.sendBack = db.sql(SEND_BACK);
  }

  /**
   * Writes the ends in a transaction of its own. Ends that an earlier call recorded are answered as
   * recorded, too.
   */
  Applied apply(List<Ended> ended) {
    if (ended.stream().allMatch(this::isOneRow) && recordAtOnce(ended)) {
      return new Applied(ended.stream().map(end -> reply(end.transition().to())).toList(), 0);
    }
    Applied applied = db.inTransaction(handle -> apply(handle, ended));
    return applied.replies.stream().allMatch(FinishReply.Recorded.class::isInstance)
        ? applied
        : new Applied(recognised(ended, applied.replies), applied.woken);
  }

  // Ends recorded just now have their answer. Of the others, some may be repeats, which are
  // answered as the first time, whatever operators have done with the job since. What a requested
  // stop made of an end, only the rows say.
  private List<FinishReply> recognised(List<Ended> ended, List<FinishReply> replies) {
    List<Ended> unknown =
        IntStream.range(0, ended.size())
            .filter(i -> replies.get(i) instanceof FinishReply.Lost)
            .mapToObj(ended::get)
            .toList();
    Map<LeaseKey, Repeats.Known> repeated =
        repeats.recorded(unknown.stream().map(Repeats.Said::of).toList());
    return IntStream.range(0, ended.size())
        .mapToObj(i ->
            Optional.ofNullable(repeated.get(ended.get(i).key()))
                .map(known ->
                    known.wasStopped() ? known.reply() : reply(ended.get(i).transition().to()))
                .orElse(replies.get(i)))
        .toList();
  }

  // Whether nothing has to be written together with the end. Webhooks are told of failures, and the
  // note is written in the same transaction: otherwise a process could die in between, and a
  // repeated report would find nothing left to do.
  private boolean isOneRow(Ended end) {
    return end.finishesJob()
        && end.transition().to() != JobState.FAILED
        && !end.hasNeeds()
        && !consequences.isHooked();
  }

  // One statement needs no transaction around it; most batches are nothing but plain successes.
  // Returns whether all were recorded; if not, some may be, and others need a closer look.
  private boolean recordAtOnce(List<Ended> ended) {
    return db.withHandle(handle ->
        ended.stream().allMatch(Ended::isMereSuccess)
            ? successes.record(handle, ended)
            : finish(handle, ended.stream().sorted(Ended.BY_JOB).toList()).size() == ended.size());
  }

  /**
   * Locks the resources that these ends will free, for a caller that locks the jobs' rows first.
   */
  void lockResources(Handle handle, List<Ended> ended) {
    aftermath.lock(handle, ended.stream().filter(Ended::hasNeeds).toList());
  }

  /** In the caller's transaction. */
  public Applied apply(Handle handle, List<Ended> ended) {
    List<Ended> withNeeds = ended.stream().filter(Ended::hasNeeds).toList();
    aftermath.lock(handle, withNeeds);
    Map<LeaseKey, JobState> recorded = write(handle, ended);
    // Not written: the lease is lost, or the job was asked to stop and this end contradicts that.
    // Stops says what it becomes instead; what is still unwritten then is lost.
    List<Ended> refused = ended.stream().filter(end -> !recorded.containsKey(end.key())).toList();
    if (!refused.isEmpty()) {
      recorded.putAll(write(handle, stops.asWanted(handle, refused)));
    }
    int woken = withNeeds.isEmpty() ? 0 : aftermath.settle(handle, withNeeds, recorded);
    List<Moved> moved =
        ended.stream()
            .flatMap(end -> Optional.ofNullable(recorded.get(end.key())).map(end::moved).stream())
            .toList();
    slots.follow(handle, moved);
    outbox.follow(handle, moved);
    consequences.moved(handle, moved);
    return new Applied(ended.stream().map(end -> reply(recorded.get(end.key()))).toList(), woken);
  }

  private static FinishReply reply(@Nullable JobState recorded) {
    return recorded == null ? new FinishReply.Lost() : new FinishReply.Recorded(recorded);
  }

  private Map<LeaseKey, JobState> write(Handle handle, List<Ended> ended) {
    List<Ended> inOrder = ended.stream().sorted(Ended.BY_JOB).toList();
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
    Ended.bind(query, "results", String.class, ended, Ended::result);
    return Ended.keys(query, ended);
  }

  // In small portions: an UPDATE cannot look up its rows with LATERAL, and the join that it needs
  // instead may compare each row with each.
  private List<LeaseKey> sendBack(Handle handle, List<Ended> ended) {
    List<LeaseKey> written = new ArrayList<>();
    for (int from = 0; from < ended.size(); from += SENT_AT_ONCE) {
      List<Ended> portion = ended.subList(from, Math.min(from + SENT_AT_ONCE, ended.size()));
      Query query = handle.createQuery(sendBack);
      bindEnds(query, portion);
      Ended.bind(
          query, "delays_ms", Long.class, portion, end -> end.transition().delay().toMillis());
      Ended.bind(
          query,
          "refunds",
          Integer.class,
          portion,
          end -> end.transition().refundsAttempt() ? 1 : 0);
      written.addAll(Ended.keys(query, portion));
    }
    return written;
  }

  private static void bindEnds(Query query, List<Ended> ended) {
    Ended.bindKeys(query, ended);
    Ended.bind(query, "states", String.class, ended, end -> end.transition().to().stored());
    Ended.bind(query, "outcomes", String.class, ended, end -> end.transition().attemptOutcome());
    Ended.bind(
        query, "failures", Integer.class, ended, end -> end.transition().countsAsFailure() ? 1 : 0);
    Ended.bind(query, "error_codes", String.class, ended, Ended::errorCode);
    Ended.bind(query, "error_messages", String.class, ended, Ended::errorMessage);
    Ended.bind(query, "log_excerpts", String.class, ended, Ended::logExcerpt);
  }
}
