package dev.holdfast.bench.peer;

import com.zaxxer.hikari.HikariDataSource;
import dev.holdfast.bench.contender.Backlog;
import dev.holdfast.bench.contender.Chunks;
import dev.holdfast.bench.contender.Count;
import dev.holdfast.bench.contender.JobQueue;
import dev.holdfast.bench.contender.Work;
import java.time.Duration;
import java.util.List;
import java.util.stream.IntStream;
import javax.sql.DataSource;
import org.jobrunr.jobs.filters.ApplyStateFilter;
import org.jobrunr.jobs.lambdas.JobRequest;
import org.jobrunr.jobs.lambdas.JobRequestHandler;
import org.jobrunr.jobs.mappers.JobMapper;
import org.jobrunr.jobs.states.StateName;
import org.jobrunr.scheduling.JobRequestScheduler;
import org.jobrunr.server.BackgroundJobServer;
import org.jobrunr.server.BackgroundJobServerConfiguration;
import org.jobrunr.server.JobActivator;
import org.jobrunr.storage.StorageProvider;
import org.jobrunr.storage.StorageProviderUtils.DatabaseOptions;
import org.jobrunr.storage.sql.postgres.PostgresStorageProvider;
import org.jobrunr.utils.mapper.JsonMapper;
import org.jobrunr.utils.mapper.jackson3.Jackson3JsonMapper;

/** A scheduler that stores jobs, another as of another process, and a server that works. */
final class JobRunrQueue implements JobQueue {

  private static final String UNFINISHED =
      """
      SELECT count(*) FROM jobrunr_jobs WHERE state <> 'SUCCEEDED'
      """;

  private final HikariDataSource pool;
  private final HikariDataSource otherPool;
  private final JsonMapper json = new Jackson3JsonMapper();
  private final StorageProvider storage;
  private final StorageProvider otherStorage;
  private final JobRequestScheduler scheduler;
  private final JobRequestScheduler elsewhere;

  JobRunrQueue(HikariDataSource pool, HikariDataSource otherPool) {
    this.pool = pool;
    this.otherPool = otherPool;
    this.storage = storage(pool);
    this.otherStorage = storage(otherPool);
    this.scheduler = new JobRequestScheduler(storage);
    this.elsewhere = new JobRequestScheduler(otherStorage);
  }

  /** What is stored of a job. */
  public record Noop(int number) implements JobRequest {

    @Override
    public Class<NoopHandler> getJobRequestHandler() {
      return NoopHandler.class;
    }
  }

  /** It does not tell its claims; the first job to start is the nearest that can be seen. */
  public record NoopHandler(Work work) implements JobRequestHandler<Noop> {

    @Override
    public void run(Noop job) {
      work.claimed(1, Duration.ZERO);
      work.run(job.number());
    }
  }

  @Override
  public void enqueue(int number) {
    scheduler.enqueue(new Noop(number));
  }

  @Override
  public void enqueueElsewhere(int number) {
    elsewhere.enqueue(new Noop(number));
  }

  @Override
  public void enqueueAll(int from, int count) {
    scheduler.enqueue(IntStream.range(from, from + count).mapToObj(Noop::new));
  }

  @Override
  public void fill(Backlog backlog, int jobs) {
    new Chunks(FIRST_FILLING, jobs).forEach(this::enqueueAll);
  }

  @Override
  public AutoCloseable work(Work work) {
    NoopHandler handler = new NoopHandler(work);
    JobActivator activator =
        new JobActivator() {
          @Override
          public <T> T activateJob(Class<T> type) {
            return type.cast(handler);
          }
        };
    BackgroundJobServer server =
        new BackgroundJobServer(
            storage,
            json,
            activator,
            BackgroundJobServerConfiguration.usingStandardBackgroundJobServerConfiguration()
                .andWorkerCount(JobRunrContender.WORKERS)
                .andPollInterval(JobRunrContender.POLL));
    ApplyStateFilter committed =
        (job, before, after) -> {
          if (after.getName() == StateName.SUCCEEDED) {
            work.finished(1);
          }
        };
    server.setJobFilters(List.of(committed));
    server.start();
    return server::stop;
  }

  @Override
  public long unfinished() {
    return Count.of(pool, UNFINISHED);
  }

  @Override
  public void close() {
    storage.close();
    otherStorage.close();
    pool.close();
    otherPool.close();
  }

  private StorageProvider storage(DataSource dataSource) {
    StorageProvider provider = new PostgresStorageProvider(dataSource, DatabaseOptions.SKIP_CREATE);
    provider.setJobMapper(new JobMapper(json));
    return provider;
  }
}
