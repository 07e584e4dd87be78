package dev.holdfast.bench.peer;

import java.sql.Connection;
import java.sql.SQLException;
import javax.sql.DataSource;
import org.quartz.JobDetail;
import org.quartz.Scheduler;
import org.quartz.SchedulerException;
import org.quartz.Trigger.CompletedExecutionInstruction;
import org.quartz.impl.DefaultThreadExecutor;
import org.quartz.impl.DirectSchedulerFactory;
import org.quartz.impl.SchedulerRepository;
import org.quartz.impl.jdbcjobstore.InvalidConfigurationException;
import org.quartz.impl.jdbcjobstore.JobStoreTX;
import org.quartz.impl.jdbcjobstore.PostgreSQLDelegate;
import org.quartz.spi.OperableTrigger;
import org.quartz.spi.ThreadPool;
import org.quartz.utils.ConnectionProvider;
import org.quartz.utils.DBConnectionManager;

/** Schedulers of one cluster, wired by hand: the usual factory knows only names of classes. */
final class QuartzSchedulers {

  private static final String CLUSTER = "bench";

  private QuartzSchedulers() {}

  static Scheduler create(
      String instance, DataSource dataSource, ThreadPool threads, Runnable afterJob)
      throws SchedulerException {
    DBConnectionManager.getInstance().addConnectionProvider(instance, lent(dataSource));
    DirectSchedulerFactory.getInstance()
        .createScheduler(
            CLUSTER,
            instance,
            threads,
            new DefaultThreadExecutor(),
            store(instance, afterJob),
            null, // no plugins
            null, // no remote access
            0,
            QuartzContender.IDLE_WAIT.toMillis(),
            -1, // retry after a failure as by default
            false, // no JMX
            null,
            QuartzContender.THREADS,
            0); // nothing fires ahead of its time
    Scheduler scheduler = SchedulerRepository.getInstance().lookup(CLUSTER);
    // The repository takes one scheduler per name and JVM; the next of this cluster is to fit, too.
    SchedulerRepository.getInstance().remove(CLUSTER);
    return scheduler;
  }

  private static JobStoreTX store(String dataSourceName, Runnable afterJob) {
    JobStoreTX store = new TellingStore(afterJob);
    store.setDataSource(dataSourceName);
    try {
      store.setDriverDelegateClass(PostgreSQLDelegate.class.getName());
    } catch (InvalidConfigurationException e) {
      throw new IllegalStateException(e);
    }
    store.setIsClustered(true);
    store.setAcquireTriggersWithinLock(true);
    store.setMisfireThreshold(QuartzContender.MISFIRE_AFTER.toMillis());
    return store;
  }

  /** Listeners are told before the commit; the store is the only place after it. */
  @SuppressWarnings("unchecked") // JobStoreTX itself overrides a method with raw types
  private static final class TellingStore extends JobStoreTX {
    private final Runnable afterJob;

    TellingStore(Runnable afterJob) {
      this.afterJob = afterJob;
    }

    @Override
    public void triggeredJobComplete(
        OperableTrigger trigger, JobDetail job, CompletedExecutionInstruction instruction) {
      super.triggeredJobComplete(trigger, job, instruction);
      afterJob.run();
    }
  }

  /** Connections of a pool that somebody else closes. */
  private static ConnectionProvider lent(DataSource dataSource) {
    return new ConnectionProvider() {
      @Override
      public Connection getConnection() throws SQLException {
        return dataSource.getConnection();
      }

      @Override
      public void initialize() {}

      @Override
      public void shutdown() {}
    };
  }
}
