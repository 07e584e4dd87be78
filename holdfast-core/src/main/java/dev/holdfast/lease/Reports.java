package dev.holdfast.lease;

import dev.holdfast.job.Failure;
import dev.holdfast.job.Item;
import dev.holdfast.job.JobState;
import dev.holdfast.job.Progress;
import dev.holdfast.tenant.Db;
import java.util.Optional;
import java.util.OptionalInt;
import java.util.UUID;
import org.jdbi.v3.core.Handle;
import org.jdbi.v3.core.statement.SqlStatement;

/** Stores what running attempts report, each write guarded by the attempt's fence. */
final class Reports {

  private static final String PROGRESS =
      """
      UPDATE {schema}.job
         SET cursor = coalesce(:cursor, cursor),
             progress_count = coalesce(:progress_count, progress_count),
             result_count = coalesce(:result_count, result_count),
             percent = coalesce(:percent, percent),
             message = coalesce(:message, message),
             input_tokens = nullif(coalesce(input_tokens, 0) + :input_tokens, 0),
             output_tokens = nullif(coalesce(output_tokens, 0) + :output_tokens, 0),
             progress_at = {schema}.clock()
       WHERE id = :job_id AND fence = :fence AND state IN ('running', 'stopping')
      """;

  // Keeps the lease from passing to another worker between the check and the insert, and two
  // reports of one attempt from taking the same place in the log.
  private static final String LOCK =
      """
      SELECT id
        FROM {schema}.job
       WHERE id = :job_id AND fence = :fence AND state IN ('running', 'stopping')
         FOR NO KEY UPDATE
      """;

  // A statement of its own, after the lock: it must see the lines that were logged while it waited.
  private static final String LOG =
      """
      INSERT INTO {schema}.job_log (job_id, fence, at, line, ends)
      SELECT :job_id, :fence, {schema}.clock(), said.line,
             coalesce(before.ends, 0)
               + sum(octet_length(said.line) + 1) OVER (ORDER BY said.number)
        FROM unnest(:lines) WITH ORDINALITY AS said (line, number)
        LEFT JOIN LATERAL (
          SELECT job_log.ends
            FROM {schema}.job_log
           WHERE job_log.job_id = :job_id
           ORDER BY job_log.id DESC
           LIMIT 1
        ) AS before ON true
       ORDER BY said.number
      """;

  // An item whose key the job has already is ignored: the first one stays.
  private static final String ITEMS =
      """
      WITH mine AS MATERIALIZED (
        SELECT id, fence
          FROM {schema}.job
         WHERE id = :job_id AND fence = :fence AND state IN ('running', 'stopping')
           FOR UPDATE
      ), stored AS (
        INSERT INTO {schema}.job_item (job_id, key, fence, at, data)
        SELECT mine.id, item.key, mine.fence, {schema}.clock(), item.data::json
          FROM mine
         CROSS JOIN unnest(:keys, :items) WITH ORDINALITY AS item (key, data, number)
         ORDER BY item.number
        ON CONFLICT DO NOTHING
        RETURNING id
      )
      UPDATE {schema}.job
         SET result_count = coalesce(result_count, 0) + (SELECT count(*) FROM stored),
             progress_at = {schema}.clock()
       WHERE id = (SELECT id FROM mine)
      RETURNING (SELECT count(*) FROM stored) AS added
      """;

  // Waits for a transaction that stores a report with the same key right now.
  private static final String REMEMBER_KEY =
      """
      INSERT INTO {schema}.idempotency (job_id, key, fence, at)
      SELECT id, :key, fence, {schema}.clock()
        FROM {schema}.job
       WHERE id = :job_id AND fence = :fence AND state IN ('running', 'stopping')
         FOR UPDATE
      ON CONFLICT DO NOTHING
      """;

  private static final String KNOWN_KEY =
      """
      SELECT EXISTS (SELECT FROM {schema}.idempotency WHERE job_id = :job_id AND key = :key)
      """;

  // The worker hears of the stop with its next beat.
  private static final String STOP_AT_LIMIT =
      """
      UPDATE {schema}.job
         SET state = 'stopping', stop_as = 'failed', error_code = :error_code,
             error_message = format('Used %s tokens, over the token limit of %s',
                                    used.tokens, used.token_limit)
        FROM (SELECT job.id, coalesce(job.input_tokens, 0) + coalesce(job.output_tokens, 0)
                               AS tokens,
                     coalesce((job.policy ->> 'token_limit')::bigint,
                              (queue.defaults ->> 'token_limit')::bigint) AS token_limit
                FROM {schema}.job
                JOIN {schema}.lane ON lane.id = job.lane
                LEFT JOIN {schema}.queue ON queue.name = lane.queue
               WHERE job.id = :job_id) AS used
       WHERE job.id = used.id
         AND job.fence = :fence
         AND job.state IN ('running', 'stopping')
         AND job.stop_as IS DISTINCT FROM 'cancelled'
         AND used.tokens > used.token_limit
      """;

  private static final String HAS_REACHED =
      """
      SELECT coalesce(result_count, 0) >= :target_count
        FROM {schema}.job
       WHERE id = :job_id AND fence = :fence
      """;

  private static final String GO_ON =
      """
      UPDATE {schema}.job
         SET progress_count = coalesce(progress_count, 0) + :seen,
             progress_at = {schema}.clock(),
             lease_expires_at =
               greatest(lease_expires_at, {schema}.clock() + :lease_ms * interval '1 millisecond')
       WHERE id = :job_id AND fence = :fence AND state IN ('running', 'stopping')
      RETURNING coalesce(result_count, 0) AS results, state
      """;

  private static final String DONE_BECAUSE =
      """
      UPDATE {schema}.job_done SET done_reason = :reason WHERE id = :job_id AND fence = :fence
      """;

  /**
   * How a job stands after a report.
   *
   * @param results how many results it has
   */
  record Standing(long results, JobState state) {}

  private static final ReportReply LOST = new ReportReply.Lost();

  private final Db db;
  private final String progress;
  private final String lock;
  private final String log;
  private final String items;
  private final String rememberKey;
  private final String knownKey;
  private final String stopAtLimit;
  private final String hasReached;
  private final String goOn;
  private final String doneBecause;

  Reports(Db db) {
    this.db = db;
    this.progress = db.sql(PROGRESS);
    this.lock = db.sql(LOCK);
    this.log = db.sql(LOG);
    this.items = db.sql(ITEMS);
    this.rememberKey = db.sql(REMEMBER_KEY);
    this.knownKey = db.sql(KNOWN_KEY);
    this.stopAtLimit = db.sql(STOP_AT_LIMIT);
    this.hasReached = db.sql(HAS_REACHED);
    this.goOn = db.sql(GO_ON);
    this.doneBecause = db.sql(DONE_BECAUSE);
  }

  ReportReply store(LeaseKey lease, Report report) {
    return db.inTransaction(handle -> store(handle, lease, report));
  }

  /** Stores the report in the caller's transaction. */
  ReportReply store(Handle handle, LeaseKey lease, Report report) {
    Optional<String> key = report.idempotencyKey();
    if (key.isPresent() && !rememberKey(handle, lease, key.get())) {
      return isKnown(handle, lease, key.get()) ? new ReportReply.Repeated() : LOST;
    }
    if (report.saysNothing()) {
      return isMine(handle, lease) ? new ReportReply.Stored(0, 0) : LOST;
    }
    OptionalInt added = storeItems(handle, lease, report);
    boolean mine =
        added.isPresent()
            && (!report.changesJob() || storeProgress(handle, lease, report))
            && (report.logLines().isEmpty() || storeLines(handle, lease, report));
    if (!mine) {
      return LOST; // and nothing was stored: all statements have the same guard
    }
    if (report.hasUsage()) {
      on(handle.createUpdate(stopAtLimit), lease).bind("error_code", Failure.TOKEN_LIMIT).execute();
    }
    return new ReportReply.Stored(added.getAsInt(), report.items().size() - added.getAsInt());
  }

  /** Whether the job has as many results as it is for. */
  boolean hasReached(Handle handle, LeaseKey lease, long targetCount) {
    return on(handle.createQuery(hasReached), lease)
        .bind("target_count", targetCount)
        .mapTo(Boolean.class)
        .one();
  }

  /** Adds to the job's progress count and extends its lease; returns how the job stands. */
  Standing goOn(Handle handle, LeaseKey lease, Submission said) {
    return on(handle.createQuery(goOn), lease)
        .bind("seen", said.seen())
        .bind("lease_ms", said.extension().toMillis())
        .map((row, context) ->
            new Standing(row.getLong("results"), JobState.of(row.getString("state"))))
        .one(); // the report has locked its row
  }

  /** Stores why a job that has just succeeded is done. */
  void doneBecause(Handle handle, LeaseKey lease, String reason) {
    on(handle.createUpdate(doneBecause), lease).bind("reason", reason).execute();
  }

  private boolean rememberKey(Handle handle, LeaseKey lease, String key) {
    return on(handle.createUpdate(rememberKey), lease).bind("key", key).execute() == 1;
  }

  private boolean isKnown(Handle handle, LeaseKey lease, String key) {
    return handle
        .createQuery(knownKey)
        .bind("job_id", lease.jobId())
        .bind("key", key)
        .mapTo(Boolean.class)
        .one();
  }

  /** Stores the items; returns how many are new, or empty when the lease is lost. */
  private OptionalInt storeItems(Handle handle, LeaseKey lease, Report report) {
    if (report.items().isEmpty()) {
      return OptionalInt.of(0);
    }
    return on(handle.createQuery(items), lease)
        .bindArray("keys", String.class, report.items().stream().map(Item::key).toArray())
        .bindArray(
            "items",
            String.class,
            report.items().stream().map(item -> item.data().json()).toArray())
        .mapTo(Integer.class)
        .stream()
        .mapToInt(Integer::intValue)
        .findFirst();
  }

  private boolean storeProgress(Handle handle, LeaseKey lease, Report report) {
    Progress said = report.progress();
    return on(handle.createUpdate(progress), lease)
            .bind("cursor", said.cursor().orElse(null))
            .bind("progress_count", said.progressCount().stream().boxed().findFirst().orElse(null))
            .bind("result_count", said.resultCount().stream().boxed().findFirst().orElse(null))
            .bind("percent", said.percent().stream().boxed().findFirst().orElse(null))
            .bind("message", said.message().orElse(null))
            .bind("input_tokens", report.inputTokens())
            .bind("output_tokens", report.outputTokens())
            .execute()
        == 1;
  }

  private boolean storeLines(Handle handle, LeaseKey lease, Report report) {
    boolean mine = isMine(handle, lease);
    if (mine) {
      on(handle.createUpdate(log), lease)
          .bindArray("lines", String.class, report.logLines())
          .execute();
    }
    return mine;
  }

  private boolean isMine(Handle handle, LeaseKey lease) {
    return on(handle.createQuery(lock), lease).mapTo(UUID.class).findOne().isPresent();
  }

  private static <S extends SqlStatement<S>> S on(S statement, LeaseKey lease) {
    return statement.bind("job_id", lease.jobId()).bind("fence", lease.fence());
  }
}
