package dev.holdfast.bench.contender;

import com.zaxxer.hikari.HikariDataSource;
import dev.holdfast.Holdfast;
import dev.holdfast.job.Kind;
import dev.holdfast.job.NewJob;
import dev.holdfast.job.Placement;
import dev.holdfast.lease.FinishReply;
import dev.holdfast.lease.Lease;
import dev.holdfast.queue.Jobs;
import dev.holdfast.worker.Worker;
import dev.holdfast.worker.WorkerListener;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.SQLException;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.function.IntFunction;
import java.util.stream.IntStream;

/** Uses nothing but Holdfast's public API, except to look and to fake a long history. */
final class HoldfastQueue implements JobQueue {

  private static final Kind<Integer> NOOP = Kind.of("noop", Integer.class);

  private static final Kind<Integer> HOLDING = Kind.of("holding", Integer.class);

  private static final String UNFINISHED =
      """
      SELECT count(*) FROM holdfast_default.job
      """;

  private static final String PARKED =
      """
      SELECT count(*) FROM holdfast_default.job WHERE waiting_on IS NOT NULL
      """;

  // As the worker would have left them, with ids that ascend like those made by time.
  private static final String FINISHED =
      """
      INSERT INTO holdfast_default.job_done
             (id, seq, fence, run_at, created_at, started_at, finished_at, lane, attempt, failures,
              granted, state, attempt_outcome, worker, args)
      SELECT ('01000000-0000-7000-8000-' || lpad(to_hex(number), 12, '0'))::uuid, number, number,
             now(), now(), now(), now(), 1, 1, 0, 0, 'succeeded', 'succeeded', 'filler',
             to_json(number)
        FROM generate_series(1, ?) AS number
      """;

  private final HikariDataSource pool;
  private final HikariDataSource otherPool;
  private final int concurrency;
  private final Holdfast holdfast;
  private final Jobs jobs;
  // A bell is heard within one Holdfast only, so a second one is as far away as another process.
  private final Jobs jobsElsewhere;

  HoldfastQueue(HikariDataSource pool, HikariDataSource otherPool, int concurrency) {
    this.pool = pool;
    this.otherPool = otherPool;
    this.concurrency = concurrency;
    this.holdfast = Holdfast.on(pool);
    this.jobs = holdfast.jobs();
    this.jobsElsewhere = Holdfast.on(otherPool).jobs();
  }

  @Override
  public void enqueue(int number) {
    jobs.enqueue(NOOP.job(number));
  }

  @Override
  public void enqueueElsewhere(int number) {
    jobsElsewhere.enqueue(NOOP.job(number));
  }

  @Override
  public void enqueueAll(int from, int count) {
    enqueueAll(NOOP::job, from, count);
  }

  @Override
  public void enqueueAll(int from, int count, IntFunction<List<String>> keysOf) {
    enqueueAll(number -> NOOP.job(number).withResources(keysOf.apply(number)), from, count);
  }

  @Override
  public AutoCloseable hold(List<String> keys) {
    keys.forEach(key -> jobs.enqueue(HOLDING.job(0).withResources(key)));
    CountDownLatch begun = new CountDownLatch(keys.size());
    CountDownLatch over = new CountDownLatch(1);
    Worker worker =
        holdfast
            .worker()
            .configure(config -> config.withConcurrency(keys.size()))
            .handle(
                HOLDING,
                (number, context) -> {
                  begun.countDown();
                  over.await();
                })
            .start();
    await(begun);
    return () -> {
      over.countDown();
      worker.close();
    };
  }

  @Override
  public void fill(Backlog backlog, int count) {
    switch (backlog) {
      case SAME -> fillWith(NOOP::job, count);
      case OTHER_QUEUE -> fillWith(number -> NOOP.job(number).withQueue("other"), count);
      case UNSERVED_KIND -> fillWith(number -> NewJob.of("unserved", number), count);
      case ABSENT_HOST -> {
        Placement absent = Placement.requiring("absent");
        fillWith(number -> NOOP.job(number).withPlacement(absent), count);
      }
      case FAR_FUTURE -> {
        Duration days = Duration.ofDays(9);
        fillWith(number -> NOOP.job(number).withPriority(-1).withDelay(days), count);
      }
      case FINISHED -> fakeHistory(count);
    }
  }

  @Override
  public AutoCloseable work(Work work) {
    return holdfast
        .worker()
        .configure(config -> config.withConcurrency(concurrency))
        .handle(NOOP, (number, context) -> work.run(number))
        .listen(
            new WorkerListener() {
              @Override
              public void claimed(int jobs, Duration took) {
                work.claimed(jobs, took);
              }

              @Override
              public void finished(Lease lease, FinishReply reply) {
                work.finished(1);
              }
            })
        .start();
  }

  @Override
  public long unfinished() {
    return Count.of(pool, UNFINISHED);
  }

  @Override
  public long parked() {
    return Count.of(pool, PARKED);
  }

  @Override
  public void close() {
    pool.close();
    otherPool.close();
  }

  private static void await(CountDownLatch begun) {
    try {
      if (!begun.await(10, TimeUnit.SECONDS)) {
        throw new IllegalStateException(begun.getCount() + " jobs did not get their key");
      }
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new IllegalStateException(e);
    }
  }

  private void fillWith(IntFunction<NewJob> job, int count) {
    new Chunks(FIRST_FILLING, count).forEach((from, some) -> enqueueAll(job, from, some));
  }

  private void enqueueAll(IntFunction<NewJob> job, int from, int count) {
    List<NewJob> all = IntStream.range(from, from + count).mapToObj(job).toList();
    jobs.enqueueAll(all);
  }

  private void fakeHistory(int count) {
    try (Connection connection = pool.getConnection();
        PreparedStatement statement = connection.prepareStatement(FINISHED)) {
      statement.setInt(1, count);
      statement.executeUpdate();
    } catch (SQLException e) {
      throw new IllegalStateException(e);
    }
  }
}
