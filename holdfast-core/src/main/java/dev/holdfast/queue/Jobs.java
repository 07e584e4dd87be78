package dev.holdfast.queue;

import dev.holdfast.codec.Codec;
import dev.holdfast.error.HoldfastException;
import dev.holdfast.job.AttemptRecord;
import dev.holdfast.job.Item;
import dev.holdfast.job.Job;
import dev.holdfast.job.Limits;
import dev.holdfast.job.NewJob;
import dev.holdfast.job.Payload;
import dev.holdfast.job.TraceContext;
import dev.holdfast.tenant.Db;
import dev.holdfast.tenant.Portion;
import dev.holdfast.tenant.Tenant;
import dev.holdfast.wake.Announcer;
import java.sql.Connection;
import java.sql.SQLException;
import java.time.Instant;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.UUID;
import java.util.function.ObjIntConsumer;
import java.util.function.Supplier;

/** The jobs of one tenant, as applications see them: put them in, look at them. Thread-safe. */
public final class Jobs {

  private static final String LEASED =
      """
      SELECT worker, count(*) AS jobs
        FROM {schema}.job
       WHERE worker IS NOT NULL
       GROUP BY worker
      """;

  private static final String ITEMS =
      """
      SELECT key, data
        FROM {schema}.job_item
       WHERE job_id = :id
       ORDER BY id
       LIMIT :limit
      """;

  private final String tenant;
  private final Db db;
  private final Codec codec;
  private final Announcer announcer;
  private final WhyNot whyNot;
  private final Supplier<Optional<TraceContext>> currentTrace;
  private final Lanes lanes;
  private final Enqueuer enqueuer;
  private final EnqueueTransactions transactions;
  private final PlainJobs plainJobs;
  private final BulkCopy bulkCopy;
  private final BulkInsert bulkInsert;
  private final JobReader reader;
  private final AttemptList attempts;
  private final JobList list;
  private final TargetList targets;
  private final JobLogs logs;
  private final String items;

  /** Without traces. */
  public Jobs(Tenant tenant, Codec codec, Announcer announcer, WhyNot whyNot) {
    this(tenant, codec, announcer, whyNot, Optional::empty);
  }

  public Jobs(
      Tenant tenant,
      Codec codec,
      Announcer announcer,
      WhyNot whyNot,
      Supplier<Optional<TraceContext>> currentTrace) {
    this.whyNot = whyNot;
    this.currentTrace = currentTrace;
    this.db = tenant.db();
    this.lanes = new Lanes(db);
    this.tenant = tenant.name().value();
    this.codec = codec;
    this.announcer = announcer;
    this.enqueuer = new Enqueuer(db, lanes);
    this.transactions = new EnqueueTransactions(tenant, lanes, announcer);
    this.plainJobs = new PlainJobs(enqueuer, transactions);
    this.bulkCopy = new BulkCopy(db, lanes);
    this.bulkInsert = new BulkInsert(db, lanes, enqueuer);
    this.reader = new JobReader(db);
    this.attempts = new AttemptList(db);
    this.list = new JobList(db);
    this.targets = new TargetList(db);
    this.logs = new JobLogs(db);
    this.items = db.sql(ITEMS);
  }

  /** Stores the job, durably, and wakes a worker. */
  public Enqueued enqueue(NewJob job) {
    JobRow row = row(job);
    Enqueued enqueued = row.isPlain() ? plainJobs.store(row) : enqueueAlone(row);
    announcer.announce(tenant);
    return enqueued;
  }

  private Enqueued enqueueAlone(JobRow row) {
    return row.mayExist()
        ? transactions.inTransaction(connection -> enqueuer.enqueue(connection, row))
        : transactions.withConnection(connection -> enqueuer.enqueue(connection, row));
  }

  /**
   * Stores the job in the caller's transaction: it exists when, and only if, that commits. Workers
   * hear of it at the commit. A connection that commits by itself is refused.
   */
  public Enqueued enqueue(Connection connection, NewJob job) {
    JobRow row = JobRow.of(traced(job), codec);
    return transactions.inCallersTransaction(
        connection,
        row.mayExist(),
        own -> {
          lanes.idOf(own, row.lane());
          return enqueuer.enqueue(own, row);
        });
  }

  /**
   * Does ahead what the very first enqueue of a kind in a caller's transaction needs another
   * connection for, so that many at once cannot use up the pool waiting for each other.
   */
  public void prepare(NewJob job) {
    lanes.idOf(Lane.of(job));
  }

  /**
   * Does the work, which enqueues in a transaction of its own; once more if it fails because the
   * tenant was dropped and created again since this object first used it.
   */
  public <T> T retryIfRecreated(Supplier<T> work) {
    return lanes.fitting(work);
  }

  /** Stores all jobs or none; answers in their order. */
  public List<Enqueued> enqueueAll(List<NewJob> jobs) {
    List<JobRow> rows = rows(jobs);
    List<Enqueued> enqueued = transactions.inTransaction(connection -> write(connection, rows));
    announcer.announce(tenant);
    return enqueued;
  }

  /** Stores all jobs in the caller's transaction; answers in their order. */
  public List<Enqueued> enqueueAll(Connection connection, List<NewJob> jobs) {
    checkSize(jobs);
    List<JobRow> rows = jobs.stream().map(job -> JobRow.of(traced(job), codec)).toList();
    boolean mayExist = rows.stream().anyMatch(JobRow::mayExist);
    return transactions.inCallersTransaction(
        connection,
        mayExist,
        own -> {
          rows.forEach(row -> lanes.idOf(own, row.lane()));
          return write(own, rows);
        });
  }

  public Optional<Job> get(UUID id) {
    return reader.find(id);
  }

  /** Those of these jobs that there are. */
  public Map<UUID, Job> all(List<UUID> ids) {
    Map<UUID, Job> found = new HashMap<>();
    reader.all(ids).forEach(job -> found.put(job.id(), job));
    return found;
  }

  /**
   * Those of these jobs that there are, one after the other in this order, each with its place in
   * the list. Never more of them are in memory than a few megabytes' worth, and no connection is
   * kept while they are looked at.
   */
  public void each(List<UUID> ids, ObjIntConsumer<Job> reader) {
    this.reader.each(ids, reader);
  }

  /** The attempts of a job that ended, oldest first. */
  public List<AttemptRecord> attempts(UUID id) {
    return attempts.all(id);
  }

  /**
   * Some of them, oldest first.
   *
   * @param after the fence of the one that came before
   */
  public Portion<AttemptRecord> attempts(UUID id, long after, int limit) {
    return attempts.after(after, id, limit);
  }

  /** The last of them, newest first. */
  public Portion<AttemptRecord> lastAttempts(UUID id, int limit) {
    return attempts.last(id, limit);
  }

  /** The one reason why the job is not running, or that it is. */
  public Why why(UUID id) {
    while (true) {
      Optional<Why> why = whyNot.of(id);
      if (why.isPresent()) {
        return why.get();
      }
      if (reader.find(id).isEmpty()) {
        throw Refusals.noSuchJob(id);
      }
    }
  }

  /** What the job's attempts logged, oldest first. */
  public List<String> log(UUID id) {
    return logs.all(id);
  }

  /**
   * What the job's attempts logged, from an offset on.
   *
   * @param offset in bytes, as the chunk before said
   * @param limit in lines
   */
  public LogChunk log(UUID id, long offset, int limit) {
    return logs.from(id, offset, limit);
  }

  /**
   * The last lines of what the job's attempts logged.
   *
   * @param limit in lines
   */
  public LogChunk logTail(UUID id, int limit) {
    return logs.tail(id, limit);
  }

  /** The same lines, numbered. */
  public List<LogEntry> logEntries(UUID id, int limit) {
    return logs.entries(id, limit);
  }

  /**
   * Jobs, newest first.
   *
   * @param after where the page before ended
   */
  public JobPage list(JobFilter filter, Optional<UUID> after, int limit) {
    return list.page(filter, after, limit);
  }

  /**
   * Jobs that have a target, newest first, and how many there are: of those that one page looks at,
   * which are the newest 20,000 of the filter's target or else of the tenant.
   */
  public CountedJobs onTargets(JobFilter filter, int offset, int limit) {
    return targets.page(filter, offset, limit);
  }

  /** When something last happened to jobs, as far as their own rows do not say it. */
  public Map<UUID, Instant> touched(List<UUID> ids) {
    return reader.touched(ids);
  }

  /** How many jobs each worker has now. */
  public Map<String, Long> leasedByWorker() {
    return db.withHandle(handle ->
        handle
            .createQuery(db.sql(LEASED))
            .reduceRows(
                new HashMap<>(),
                (counts, row) -> {
                  counts.put(
                      row.getColumn("worker", String.class), row.getColumn("jobs", Long.class));
                  return counts;
                }));
  }

  /** What the job found or made, oldest first. */
  public List<Item> items(UUID id, int limit) {
    Limits.page("limit", limit);
    return db.withHandle(handle ->
        handle
            .createQuery(items)
            .bind("id", id)
            .bind("limit", limit)
            .map((row, context) ->
                new Item(row.getString("key"), new Payload(row.getString("data"))))
            .list());
  }

  private List<JobRow> rows(List<NewJob> jobs) {
    checkSize(jobs);
    return jobs.stream().map(this::row).toList();
  }

  private static void checkSize(List<NewJob> jobs) {
    if (jobs.size() > Limits.BATCH_JOBS) {
      throw HoldfastException.invalid(
          "jobs", jobs.size() + " jobs", "at most " + Limits.BATCH_JOBS);
    }
  }

  /** In the trace of whoever enqueues it, unless it says another. */
  private NewJob traced(NewJob job) {
    Optional<TraceContext> current = currentTrace.get();
    return current.isEmpty() || job.policy().trace().isPresent()
        ? job
        : job.withTrace(current.get());
  }

  // The lane is looked up before a connection is taken, or a burst of first jobs could use up the
  // pool with enqueuers that each wait for a second connection.
  private JobRow row(NewJob job) {
    JobRow row = JobRow.of(traced(job), codec);
    lanes.idOf(row.lane());
    return row;
  }

  private List<Enqueued> write(Connection connection, List<JobRow> rows) throws SQLException {
    if (rows.stream().anyMatch(JobRow::mayExist)) {
      return bulkInsert.write(connection, rows);
    }
    bulkCopy.write(connection, rows);
    return rows.stream().map(row -> new Enqueued(row.id(), true)).toList();
  }
}
