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
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.UUID;
import java.util.function.ObjIntConsumer;
import java.util.function.Supplier;

/**
 * The jobs of one tenant: enqueues and reads them. Thread-safe.
 *
 * <p>Enqueuing throws a {@link HoldfastException}: {@code INVALID_ARGUMENT} for a value past its
 * limit, {@code BAD_PAYLOAD} for arguments that cannot be written as JSON, {@code DATABASE} when
 * the database fails. In the last case the job may have been stored; a job with an id can be
 * enqueued again.
 */
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

  private final Db db;
  private final JobIntake intake;
  private final WhyNot whyNot;
  private final JobReader reader;
  private final AttemptList attempts;
  private final JobList list;
  private final TargetList targets;
  private final JobLogs logs;
  private final String items;

  /** Jobs whose enqueues continue no trace. */
  public Jobs(Tenant tenant, Codec codec, Announcer announcer, WhyNot whyNot) {
    this(tenant, codec, announcer, whyNot, Optional::empty);
  }

  public Jobs(
      Tenant tenant,
      Codec codec,
      Announcer announcer,
      WhyNot whyNot,
      Supplier<Optional<TraceContext>> currentTrace) {
    this.db = tenant.db();
    this.intake = new JobIntake(tenant, codec, announcer, currentTrace);
    this.whyNot = whyNot;
    this.reader = new JobReader(db);
    this.attempts = new AttemptList(db);
    this.list = new JobList(db);
    this.targets = new TargetList(db);
    this.logs = new JobLogs(db);
    this.items = db.sql(ITEMS);
  }

  /** Stores the job durably and wakes a worker. */
  public Enqueued enqueue(NewJob job) {
    return intake.enqueue(job);
  }

  /**
   * Stores the job in the caller's transaction: it exists if, and only if, that commits. Workers
   * hear of it at the commit.
   *
   * @throws HoldfastException with {@code INVALID_ARGUMENT} for a connection in autocommit mode,
   *     and, if the job has an id or a unique key, for a transaction that is not READ COMMITTED
   */
  public Enqueued enqueue(Connection connection, NewJob job) {
    return intake.enqueue(connection, job);
  }

  /**
   * Creates the lane of such a job ahead of time. The first enqueue of a lane in a caller's
   * transaction needs a second connection for that, and many at once could use up the pool while
   * they wait for each other.
   */
  public void prepare(NewJob job) {
    intake.prepare(job);
  }

  /**
   * Runs work that enqueues in a transaction of its own; runs it again if it fails because the
   * tenant was dropped and created again since this object first used it.
   */
  public <T> T retryIfRecreated(Supplier<T> work) {
    return intake.retryIfRecreated(work);
  }

  /**
   * Stores all jobs or none, up to 1,000,000.
   *
   * @return one result per job, in their order
   */
  public List<Enqueued> enqueueAll(List<NewJob> jobs) {
    return intake.enqueueAll(jobs);
  }

  /**
   * Stores all jobs in the caller's transaction, under the same conditions as {@link
   * #enqueue(Connection, NewJob)}.
   *
   * @return one result per job, in their order
   */
  public List<Enqueued> enqueueAll(Connection connection, List<NewJob> jobs) {
    return intake.enqueueAll(connection, jobs);
  }

  public Optional<Job> get(UUID id) {
    return reader.find(id);
  }

  /** The jobs that exist among these, by their ids. */
  public Map<UUID, Job> all(List<UUID> ids) {
    Map<UUID, Job> found = new HashMap<>();
    reader.all(ids).forEach(job -> found.put(job.id(), job));
    return found;
  }

  /**
   * Passes the jobs that exist among these to the reader, one after the other in this order, each
   * with its index in the list. No more than a few megabytes of jobs are in memory at a time, and
   * no connection is kept while the reader looks at them.
   */
  public void each(List<UUID> ids, ObjIntConsumer<Job> reader) {
    this.reader.each(ids, reader);
  }

  /** The ended attempts of a job, oldest first. */
  public List<AttemptRecord> attempts(UUID id) {
    return attempts.all(id);
  }

  /**
   * A portion of the ended attempts of a job, oldest first.
   *
   * @param after the fence of the last attempt of the portion before; 0 begins the list
   */
  public Portion<AttemptRecord> attempts(UUID id, long after, int limit) {
    return attempts.after(after, id, limit);
  }

  /** The last ended attempts of a job, newest first. */
  public Portion<AttemptRecord> lastAttempts(UUID id, int limit) {
    return attempts.last(id, limit);
  }

  /**
   * The one reason why the job is not running, or that it is running.
   *
   * @throws HoldfastException with {@code NOT_FOUND} when there is no such job
   */
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
   * @param offset in bytes: 0, or the offset of the chunk before
   * @param limit the largest number of lines
   */
  public LogChunk log(UUID id, long offset, int limit) {
    return logs.from(id, offset, limit);
  }

  /**
   * The last lines of what the job's attempts logged.
   *
   * @param limit the largest number of lines
   */
  public LogChunk logTail(UUID id, int limit) {
    return logs.tail(id, limit);
  }

  /** The last lines of what the job's attempts logged, with their numbers. */
  public List<LogEntry> logEntries(UUID id, int limit) {
    return logs.entries(id, limit);
  }

  /**
   * Lists jobs, newest first.
   *
   * @param after the {@code after} of the page before; empty begins the list
   */
  public JobPage list(JobFilter filter, Optional<UUID> after, int limit) {
    return list.page(filter, after, limit);
  }

  /**
   * Jobs that have a target, newest first, and how many match. Applies the filter's states, queue,
   * kind and target. Looks only at the newest 20,000 jobs of that target, or else of all.
   */
  public CountedJobs onTargets(JobFilter filter, int offset, int limit) {
    return targets.page(filter, offset, limit);
  }

  /** What the jobs' own rows do not show; nothing of a job whose row shows all. */
  public Map<UUID, Touched> touched(List<UUID> ids) {
    return reader.touched(ids);
  }

  /** How many jobs each worker has leased now. */
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
}
