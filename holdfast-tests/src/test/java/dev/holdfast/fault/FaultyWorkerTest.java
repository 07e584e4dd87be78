package dev.holdfast.fault;

import static org.assertj.core.api.Assertions.assertThat;

import dev.holdfast.error.HoldfastException;
import dev.holdfast.job.Kind;
import dev.holdfast.job.NewJob;
import dev.holdfast.job.PolicyOverrides;
import dev.holdfast.job.RetryPolicy;
import dev.holdfast.worker.JobContext;
import dev.holdfast.worker.Worker;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.time.Duration;
import java.util.ArrayList;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.SplittableRandom;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/**
 * A worker whose connections fail all the time, at random. For another run: {@code
 * -Dholdfast.faults.seed=7 -Dholdfast.faults.jobs=1000}.
 */
class FaultyWorkerTest {

  private static final long SEED = Long.getLong("holdfast.faults.seed", 20_261_116L);
  private static final int JOBS = Integer.getInteger("holdfast.faults.jobs", 120);
  private static final double SHARE_OF_FAULTS = 0.02; // on each side of each point
  private static final int MOST_ROUNDS = 5_000;

  private static final Duration SECOND = Duration.ofSeconds(1);
  private static final Kind<String> KIND = Kind.of("work", String.class);
  private static final PolicyOverrides PATIENT =
      PolicyOverrides.NONE
          .withMaxAttempts(1000)
          .withRetry(new RetryPolicy.Exponential(SECOND, SECOND, 0));

  private final SplittableRandom dice = new SplittableRandom(SEED);
  private final Map<Fault, Integer> struck = new EnumMap<>(Fault.class);
  private int failures;
  private int attempts;
  private int rounds;

  private Optional<Fault> sometimes(int number, Point point, Moment moment) {
    Fault[] all = Fault.values();
    return dice.nextDouble() < SHARE_OF_FAULTS
        ? Optional.of(all[dice.nextInt(all.length)])
        : Optional.empty();
  }

  @Test
  @Timeout(value = 1, unit = TimeUnit.HOURS)
  void every_job_has_its_effect_once_however_often_connections_fail() throws Exception {
    try (Ground ground = new Ground();
        FaultyPool pool = FaultyPool.forThisThread(Ground.url())) {
      ground.empty();
      long deadlocks = ground.deadlocks();
      Engine engine = ground.engine(pool.dataSource());
      Worker worker =
          ground
              .holdfast(pool.dataSource())
              .worker(ground.tenant())
              .handle(KIND, (args, context) -> work(engine, args, context))
              .build();
      pool.play(this::sometimes);

      jobs().forEach(job -> untilHeard(() -> engine.jobs().enqueue(job)));
      while (rounds++ < MOST_ROUNDS && !unfinished(ground).isEmpty()) {
        tried(worker::runDue);
        ground.later(60); // retries are due, and leases that nobody heard of are over
        tried(engine.reaper()::runOnce);
      }

      pool.heal().forEach((fault, times) -> struck.merge(fault, times, Integer::sum));
      System.out.printf(
          "Faulty worker: seed %d, %d jobs, %d points, faults %s, %d attempts, %d calls failed,"
              + " %d rounds%n",
          SEED, JOBS, pool.passed().size(), struck, attempts, failures, rounds);
      assertThat(unfinished(ground)).isEmpty();
      assertThat(ground.column("SELECT state FROM {schema}.job_done"))
          .hasSize(JOBS)
          .containsOnly("succeeded");
      assertThat(ground.column("SELECT job_id FROM {schema}.effect"))
          .hasSize(JOBS)
          .doesNotHaveDuplicates();
      assertThat(ground.violations()).isEmpty();
      assertThat(ground.deadlocks()).isEqualTo(deadlocks);
      assertThat(pool.complaints()).isEmpty();
      assertThat(pool.lent()).isZero();
      assertThat(struck.keySet()).containsExactly(Fault.values());
    }
  }

  private static List<NewJob> jobs() {
    List<NewJob> jobs = new ArrayList<>();
    for (int i = 0; i < JOBS; i++) {
      NewJob job = Ground.job("job " + i).withPolicy(PATIENT);
      jobs.add(
          switch (i % 4) {
            case 0 -> job.withResources("licence", "node:" + i % 3);
            case 1 -> job.withTarget("crm");
            default -> job;
          });
    }
    return jobs;
  }

  private void work(Engine engine, String args, JobContext context) throws Exception {
    attempts++;
    context.log("begins with " + args);
    context.checkpoint("begun");
    context.inTransaction(connection -> {
      note(engine, connection, context);
      return context.payload(args);
    });
  }

  private static void note(Engine engine, Connection connection, JobContext context)
      throws Exception {
    try (PreparedStatement statement =
        connection.prepareStatement(engine.sql("INSERT INTO {schema}.effect VALUES (?)"))) {
      statement.setObject(1, context.jobId());
      statement.executeUpdate();
    }
  }

  private static List<String> unfinished(Ground ground) {
    return ground.column("SELECT id FROM {schema}.job");
  }

  private void untilHeard(Runnable enqueue) {
    while (!tried(enqueue)) {
      assertThat(failures).isLessThan(MOST_ROUNDS);
    }
  }

  private boolean tried(Runnable call) {
    try {
      call.run();
      return true;
    } catch (HoldfastException e) {
      failures++;
      return false;
    }
  }
}
