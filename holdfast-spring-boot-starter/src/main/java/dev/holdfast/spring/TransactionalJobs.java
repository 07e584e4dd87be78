package dev.holdfast.spring;

import dev.holdfast.Holdfast;
import dev.holdfast.error.HoldfastException;
import dev.holdfast.job.NewJob;
import dev.holdfast.queue.Enqueued;
import dev.holdfast.queue.Jobs;
import dev.holdfast.tenant.TenantName;
import java.sql.Connection;
import java.util.List;
import java.util.function.BiFunction;
import java.util.function.Function;
import javax.sql.DataSource;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.springframework.jdbc.datasource.DataSourceUtils;
import org.springframework.transaction.support.TransactionSynchronization;
import org.springframework.transaction.support.TransactionSynchronizationManager;

/**
 * Enqueues in the Spring transaction that the calling thread is in: the job exists when, and only
 * if, that commits. Outside of a transaction the job is stored at once. Thread-safe.
 *
 * <p>A transaction that the job could not share the fate of is refused with a {@link
 * HoldfastException}, and nothing is stored: one of another DataSource or transaction manager, or
 * beside one of another DataSource; a read-only one; and one that has ended, in callbacks of its
 * completion.
 */
public final class TransactionalJobs {

  private static final Logger log = LoggerFactory.getLogger(TransactionalJobs.class);

  private final Holdfast holdfast;
  private final TenantName tenant;
  private final ThreadTransaction transaction;

  /**
   * For an application that makes its own {@link Holdfast}.
   *
   * @param dataSource the one that Holdfast has, or a proxy of Spring's before it
   */
  public TransactionalJobs(Holdfast holdfast, DataSource dataSource, TenantName tenant) {
    this.holdfast = holdfast;
    this.tenant = tenant;
    this.transaction = new ThreadTransaction(ProxiedPool.of(dataSource));
  }

  public Enqueued enqueue(NewJob job) {
    return store(jobs -> jobs.enqueue(job), (jobs, own) -> jobs.enqueue(own, job));
  }

  /** Stores all jobs or none; answers in their order. */
  public List<Enqueued> enqueueAll(List<NewJob> jobs) {
    return store(all -> all.enqueueAll(jobs), (all, own) -> all.enqueueAll(own, jobs));
  }

  /**
   * Does ahead what the very first job of a kind needs a second connection for besides its
   * transaction's: many of them at once could use up the pool, waiting for each other. Call it for
   * a job of each kind when the application starts, outside of transactions; of each queue,
   * priority and placement that it is enqueued with, and with needs if it has any. Stores nothing
   * of the job itself.
   */
  public void prepare(NewJob job) {
    holdfast.jobs(tenant).prepare(job);
  }

  /**
   * Looks for the tenant ahead, which needs connections. A transaction that enqueues has one
   * already, and many of them at once could use up the pool, waiting for one more.
   */
  void open() {
    Jobs unused = holdfast.jobs(tenant);
  }

  private <R> R store(Function<Jobs, R> atOnce, BiFunction<Jobs, Connection, R> in) {
    Jobs jobs = holdfast.jobs(tenant);
    return transaction
        .dataSource()
        .map(dataSource -> inTransaction(dataSource, own -> in.apply(jobs, own)))
        .orElseGet(() -> atOnce.apply(jobs));
  }

  private static <R> R inTransaction(DataSource dataSource, Function<Connection, R> work) {
    Connection own = DataSourceUtils.getConnection(dataSource);
    try {
      R stored = work.apply(own);
      if (TransactionSynchronizationManager.isSynchronizationActive()) {
        TransactionSynchronizationManager.registerSynchronization(new Witness());
      }
      return stored;
    } finally {
      DataSourceUtils.releaseConnection(own, dataSource);
    }
  }

  /**
   * Nothing tells beforehand that a transaction has committed whose callbacks still run. Whoever
   * was there in time, though, is called back after the commit. So is who was there in one that
   * only joined it, from a callback of its completion; but how that ended nobody knows.
   */
  private static final class Witness implements TransactionSynchronization {

    private boolean inTime;

    @Override
    public void afterCommit() {
      inTime = true;
    }

    @Override
    public void afterCompletion(int status) {
      boolean isLate = status == STATUS_COMMITTED && !inTime;
      boolean joinedLate = status == STATUS_UNKNOWN && inTime;
      if (isLate || joinedLate) {
        log.error(
            "A job was enqueued in a callback after the commit of its transaction, and may be lost:"
                + " begin a new transaction there (REQUIRES_NEW)");
      }
    }
  }
}
