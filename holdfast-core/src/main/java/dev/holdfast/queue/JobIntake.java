package dev.holdfast.queue;

import dev.holdfast.codec.Codec;
import dev.holdfast.error.HoldfastException;
import dev.holdfast.job.Limits;
import dev.holdfast.job.NewJob;
import dev.holdfast.job.TraceContext;
import dev.holdfast.tenant.Db;
import dev.holdfast.tenant.Tenant;
import dev.holdfast.wake.Announcer;
import java.sql.Connection;
import java.sql.SQLException;
import java.util.List;
import java.util.Optional;
import java.util.function.Supplier;

/**
 * Enqueues one job or many, in a transaction of its own or in the caller's, by whichever way stores
 * them fastest. Thread-safe.
 */
final class JobIntake {

  private final String tenant;
  private final Codec codec;
  private final Announcer announcer;
  private final Supplier<Optional<TraceContext>> currentTrace;
  private final Lanes lanes;
  private final Enqueuer enqueuer;
  private final EnqueueTransactions transactions;
  private final PlainJobs plainJobs;
  private final BulkCopy bulkCopy;
  private final BulkInsert bulkInsert;

  JobIntake(
      Tenant tenant,
      Codec codec,
      Announcer announcer,
      Supplier<Optional<TraceContext>> currentTrace) {
    Db db = tenant.db();
    this.tenant = tenant.name().value();
    this.codec = codec;
    this.announcer = announcer;
    this.currentTrace = currentTrace;
    this.lanes = new Lanes(db);
    this.enqueuer = new Enqueuer(db, lanes);
    this.transactions = new EnqueueTransactions(tenant, lanes, announcer);
    this.plainJobs = new PlainJobs(enqueuer, transactions);
    this.bulkCopy = new BulkCopy(db, lanes);
    this.bulkInsert = new BulkInsert(db, lanes, enqueuer);
  }

  Enqueued enqueue(NewJob job) {
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

  Enqueued enqueue(Connection connection, NewJob job) {
    JobRow row = JobRow.of(traced(job), codec);
    return transactions.inCallersTransaction(
        connection,
        row.mayExist(),
        own -> {
          lanes.idOf(own, row.lane());
          return enqueuer.enqueue(own, row);
        });
  }

  void prepare(NewJob job) {
    lanes.idOf(Lane.of(job));
  }

  <T> T retryIfRecreated(Supplier<T> work) {
    return lanes.fitting(work);
  }

  List<Enqueued> enqueueAll(List<NewJob> jobs) {
    List<JobRow> rows = rows(jobs);
    List<Enqueued> enqueued = transactions.inTransaction(connection -> write(connection, rows));
    announcer.announce(tenant);
    return enqueued;
  }

  List<Enqueued> enqueueAll(Connection connection, List<NewJob> jobs) {
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

  /** The job, in the trace of the calling thread unless it has another. */
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
