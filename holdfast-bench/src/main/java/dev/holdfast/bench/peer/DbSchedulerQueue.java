package dev.holdfast.bench.peer;

import com.github.kagkarlsson.scheduler.Scheduler;
import com.github.kagkarlsson.scheduler.SchedulerClient;
import com.github.kagkarlsson.scheduler.event.AbstractSchedulerListener;
import com.github.kagkarlsson.scheduler.task.ExecutionComplete;
import com.github.kagkarlsson.scheduler.task.TaskInstance;
import com.github.kagkarlsson.scheduler.task.helper.OneTimeTask;
import com.github.kagkarlsson.scheduler.task.helper.Tasks;
import com.zaxxer.hikari.HikariDataSource;
import dev.holdfast.bench.contender.Backlog;
import dev.holdfast.bench.contender.Chunks;
import dev.holdfast.bench.contender.Count;
import dev.holdfast.bench.contender.JobQueue;
import dev.holdfast.bench.contender.Work;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;

/** One scheduler, which also takes the jobs of its process, and a client as of another one. */
final class DbSchedulerQueue implements JobQueue {

  private static final String UNFINISHED =
      """
      SELECT count(*) FROM scheduled_tasks
      """;

  private final HikariDataSource pool;
  private final HikariDataSource otherPool;
  private final HikariDataSource batchPool;
  private final OneTimeTask<Void> noop;
  private final Scheduler scheduler;
  private final SchedulerClient elsewhere;
  private final Scheduler batches;
  private volatile Work work = number -> {};

  DbSchedulerQueue(HikariDataSource pool, HikariDataSource otherPool, HikariDataSource batchPool) {
    this.pool = pool;
    this.otherPool = otherPool;
    this.batchPool = batchPool;
    this.noop =
        Tasks.oneTime("noop")
            .execute((instance, context) -> run(Integer.parseInt(instance.getId())));
    this.scheduler =
        Scheduler.create(pool, noop)
            .threads(DbSchedulerContender.THREADS)
            .pollUsingLockAndFetch(
                DbSchedulerContender.LOWER_LIMIT, DbSchedulerContender.UPPER_LIMIT)
            .pollingInterval(DbSchedulerContender.POLL)
            .enableImmediateExecution()
            .addSchedulerListener(
                new AbstractSchedulerListener() {
                  @Override
                  public void onExecutionComplete(ExecutionComplete complete) {
                    work.finished(1); // its row is deleted by then
                  }
                })
            .build();
    this.elsewhere = SchedulerClient.Builder.create(otherPool, noop).build();
    // Never started. A client alone cannot be told to commit.
    this.batches = Scheduler.create(batchPool, noop).commitWhenAutocommitDisabled(true).build();
  }

  @Override
  public void enqueue(int number) {
    scheduler.scheduleBatch(List.of(instance(number)), Instant.now());
  }

  @Override
  public void enqueueElsewhere(int number) {
    elsewhere.scheduleBatch(List.of(instance(number)), Instant.now());
  }

  @Override
  public void enqueueAll(int from, int count) {
    List<TaskInstance<?>> instances = new ArrayList<>(count);
    for (int number = from; number < from + count; number++) {
      instances.add(instance(number));
    }
    batches.scheduleBatch(instances, Instant.now());
  }

  @Override
  public void fill(Backlog backlog, int jobs) {
    new Chunks(FIRST_FILLING, jobs).forEach(this::enqueueAll);
  }

  @Override
  public AutoCloseable work(Work work) {
    this.work = work;
    scheduler.start();
    return scheduler::stop;
  }

  @Override
  public long unfinished() {
    return Count.of(pool, UNFINISHED);
  }

  @Override
  public void close() {
    if (!scheduler.getSchedulerState().isShuttingDown()) {
      scheduler.stop();
    }
    pool.close();
    otherPool.close();
    batchPool.close();
  }

  /** It does not tell its claims; the first job to start is the nearest that can be seen. */
  private void run(int number) {
    work.claimed(1, Duration.ZERO);
    work.run(number);
  }

  private TaskInstance<Void> instance(int number) {
    return noop.instance(Integer.toString(number));
  }
}
