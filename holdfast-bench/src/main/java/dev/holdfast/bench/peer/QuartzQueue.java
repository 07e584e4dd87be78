package dev.holdfast.bench.peer;

import com.zaxxer.hikari.HikariDataSource;
import dev.holdfast.bench.contender.Backlog;
import dev.holdfast.bench.contender.Count;
import dev.holdfast.bench.contender.JobQueue;
import dev.holdfast.bench.contender.Work;
import java.time.Duration;
import java.util.HashSet;
import java.util.Set;
import org.quartz.Job;
import org.quartz.JobBuilder;
import org.quartz.JobDetail;
import org.quartz.JobExecutionContext;
import org.quartz.Scheduler;
import org.quartz.SchedulerException;
import org.quartz.Trigger;
import org.quartz.TriggerBuilder;
import org.quartz.simpl.SimpleThreadPool;
import org.quartz.simpl.ZeroSizeThreadPool;

/** One scheduler, which also takes the jobs of its process, and one that only stores others'. */
final class QuartzQueue implements JobQueue {

  private static final String UNFINISHED =
      """
      SELECT count(*) FROM qrtz_triggers
      """;

  private static final JobDetail NOOP =
      JobBuilder.newJob(NoopJob.class).withIdentity("noop").storeDurably().build();

  private final HikariDataSource pool;
  private final HikariDataSource otherPool;
  private final Scheduler scheduler;
  private final Scheduler elsewhere;
  private volatile Work work = number -> {};

  QuartzQueue(HikariDataSource pool, HikariDataSource otherPool) {
    this.pool = pool;
    this.otherPool = otherPool;
    try {
      this.scheduler =
          QuartzSchedulers.create(
              "here",
              pool,
              new SimpleThreadPool(QuartzContender.THREADS, Thread.NORM_PRIORITY),
              () -> work.finished(1));
      this.elsewhere =
          QuartzSchedulers.create("elsewhere", otherPool, new ZeroSizeThreadPool(), () -> {});
      scheduler.setJobFactory((fired, from) -> this::run);
      scheduler.addJob(NOOP, true);
    } catch (SchedulerException e) {
      throw new IllegalStateException(e);
    }
  }

  /** Only its name is stored; what runs comes from the job factory. */
  interface NoopJob extends Job {}

  @Override
  public void enqueue(int number) {
    schedule(scheduler, number);
  }

  @Override
  public void enqueueElsewhere(int number) {
    schedule(elsewhere, number);
  }

  @Override
  public void enqueueAll(int from, int count) {
    Set<Trigger> triggers = new HashSet<>();
    for (int number = from; number < from + count; number++) {
      triggers.add(trigger(number));
    }
    try {
      scheduler.scheduleJob(NOOP, triggers, true);
    } catch (SchedulerException e) {
      throw new IllegalStateException(e);
    }
  }

  @Override
  public void fill(Backlog backlog, int jobs) {
    throw new UnsupportedOperationException("too slow for a backlog");
  }

  @Override
  public AutoCloseable work(Work work) {
    this.work = work;
    try {
      scheduler.start();
    } catch (SchedulerException e) {
      throw new IllegalStateException(e);
    }
    return () -> scheduler.shutdown(true);
  }

  @Override
  public long unfinished() {
    return Count.of(pool, UNFINISHED);
  }

  @Override
  public void close() {
    try {
      scheduler.shutdown(true);
      elsewhere.shutdown(true);
    } catch (SchedulerException e) {
      throw new IllegalStateException(e);
    }
    pool.close();
    otherPool.close();
  }

  /** It does not tell its claims; the first job to start is the nearest that can be seen. */
  private void run(JobExecutionContext context) {
    work.claimed(1, Duration.ZERO);
    work.run(Integer.parseInt(context.getTrigger().getKey().getName()));
  }

  private static void schedule(Scheduler scheduler, int number) {
    try {
      scheduler.scheduleJob(trigger(number));
    } catch (SchedulerException e) {
      throw new IllegalStateException(e);
    }
  }

  private static Trigger trigger(int number) {
    return TriggerBuilder.newTrigger()
        .withIdentity(Integer.toString(number))
        .forJob(NOOP)
        .startNow()
        .build();
  }
}
