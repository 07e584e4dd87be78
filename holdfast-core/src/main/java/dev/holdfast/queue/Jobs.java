package dev.holdfast.queue;

import dev.holdfast.codec.Codec;
import dev.holdfast.error.ErrorCode;
import dev.holdfast.error.HoldfastException;
import dev.holdfast.job.AttemptRecord;
import dev.holdfast.job.Job;
import dev.holdfast.job.Limits;
import dev.holdfast.job.NewJob;
import dev.holdfast.tenant.Db;
import dev.holdfast.tenant.SqlErrors;
import dev.holdfast.tenant.Tenant;
import dev.holdfast.wake.Announcer;
import java.sql.Connection;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.UUID;
import org.jdbi.v3.core.Jdbi;

/** The jobs of one tenant, as applications see them: put them in, look at them. Thread-safe. */
public final class Jobs {

  private static final String GET =
      """
      SELECT * FROM {schema}.job_all WHERE id = :id
      """;

  private static final String ATTEMPTS =
      """
      SELECT * FROM {schema}.attempt_all WHERE job_id = :id ORDER BY fence
      """;

  private static final String LOG =
      """
      SELECT line FROM {schema}.job_log WHERE job_id = :id ORDER BY id
      """;

  private final String tenant;
  private final Db db;
  private final Jdbi jdbi;
  private final Codec codec;
  private final Announcer announcer;
  private final WhyNot whyNot;
  private final Lanes lanes;
  private final Enqueuer enqueuer;
  private final BulkCopy bulkCopy;
  private final String get;
  private final String attempts;
  private final String log;

  public Jobs(Tenant tenant, Codec codec, Announcer announcer, WhyNot whyNot) {
    this.whyNot = whyNot;
    this.db = tenant.db();
    this.lanes = new Lanes(db);
    this.tenant = tenant.name().value();
    this.jdbi = db.jdbi();
    this.codec = codec;
    this.announcer = announcer;
    this.enqueuer = new Enqueuer(db, lanes);
    this.bulkCopy = new BulkCopy(db, lanes);
    this.get = db.sql(GET);
    this.attempts = db.sql(ATTEMPTS);
    this.log = db.sql(LOG);
  }

  /** Stores the job, durably, and wakes a worker. */
  public Enqueued enqueue(NewJob job) {
    JobRow row = JobRow.of(job, codec);
    Enqueued enqueued =
        row.mayExist()
            ? inTransaction(connection -> enqueuer.enqueue(connection, row))
            : withConnection(connection -> enqueuer.enqueue(connection, row));
    announcer.announce(tenant);
    return enqueued;
  }

  /**
   * Stores the job in the caller's transaction: it exists when, and only if, that commits. Workers
   * hear of it at the commit.
   */
  public Enqueued enqueue(Connection connection, NewJob job) {
    JobRow row = JobRow.of(job, codec);
    return inCallersTransaction(connection, own -> enqueuer.enqueue(own, row));
  }

  /** Stores all jobs or none; answers in their order. */
  public List<Enqueued> enqueueAll(List<NewJob> jobs) {
    List<JobRow> rows = rows(jobs);
    List<Enqueued> enqueued = inTransaction(connection -> write(connection, rows));
    announcer.announce(tenant);
    return enqueued;
  }

  /** Stores all jobs in the caller's transaction; answers in their order. */
  public List<Enqueued> enqueueAll(Connection connection, List<NewJob> jobs) {
    List<JobRow> rows = rows(jobs);
    return inCallersTransaction(connection, own -> write(own, rows));
  }

  public Optional<Job> get(UUID id) {
    return jdbi.withHandle(
        handle -> handle.createQuery(get).bind("id", id).map(JobMapper.JOB).findOne());
  }

  /** The attempts of a job that ended, oldest first. */
  public List<AttemptRecord> attempts(UUID id) {
    return jdbi.withHandle(
        handle -> handle.createQuery(attempts).bind("id", id).map(JobMapper.ATTEMPT).list());
  }

  /** The one reason why the job is not running, or that it is. */
  public Why why(UUID id) {
    return whyNot.of(id);
  }

  /** What the job's attempts logged, oldest first. */
  public List<String> log(UUID id) {
    return jdbi.withHandle(
        handle -> handle.createQuery(log).bind("id", id).mapTo(String.class).list());
  }

  private List<JobRow> rows(List<NewJob> jobs) {
    if (jobs.size() > Limits.BATCH_JOBS) {
      throw HoldfastException.invalid(
          "jobs", jobs.size() + " jobs", "at most " + Limits.BATCH_JOBS);
    }
    return jobs.stream().map(job -> JobRow.of(job, codec)).toList();
  }

  private List<Enqueued> write(Connection connection, List<JobRow> rows) throws SQLException {
    List<Enqueued> enqueued = new ArrayList<>(rows.size());
    List<JobRow> copied = new ArrayList<>(rows.size());
    for (JobRow row : rows) {
      if (row.mayExist()) {
        enqueued.add(enqueuer.enqueue(connection, row));
      } else {
        copied.add(row);
        enqueued.add(new Enqueued(row.id(), true));
      }
    }
    bulkCopy.write(connection, copied);
    return enqueued;
  }

  private interface Work<R> {
    R on(Connection connection) throws SQLException;
  }

  private <R> R withConnection(Work<R> work) {
    try (Connection connection = db.connect()) {
      return work.on(connection);
    } catch (SQLException e) {
      throw refused(e);
    }
  }

  private <R> R inTransaction(Work<R> work) {
    return withConnection(connection -> inTransaction(connection, work));
  }

  private <R> R inCallersTransaction(Connection connection, Work<R> work) {
    Work<R> announced =
        own -> {
          R result = work.on(own);
          announcer.announceOnCommit(own, tenant);
          return result;
        };
    try {
      return connection.getAutoCommit()
          ? inTransaction(connection, announced)
          : announced.on(connection);
    } catch (SQLException e) {
      throw refused(e);
    }
  }

  private HoldfastException refused(SQLException e) {
    if (SqlErrors.violates(e, "job_lane_is_of_this_tenant")) {
      lanes.forget();
      return new HoldfastException(
          ErrorCode.STATE_CONFLICT,
          "tenant " + tenant + " was dropped and made anew; try again",
          e);
    }
    return SqlErrors.translated("enqueue", e);
  }

  private static <R> R inTransaction(Connection connection, Work<R> work) throws SQLException {
    connection.setAutoCommit(false);
    try {
      R result = work.on(connection);
      connection.commit();
      return result;
    } catch (SQLException | RuntimeException e) {
      connection.rollback();
      throw e;
    } finally {
      connection.setAutoCommit(true);
    }
  }
}
