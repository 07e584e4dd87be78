package dev.holdfast.bench.workload;

import com.zaxxer.hikari.HikariDataSource;
import dev.holdfast.Holdfast;
import dev.holdfast.bench.contender.Pools;
import dev.holdfast.bench.contender.Role;
import dev.holdfast.bench.measure.Bench;
import dev.holdfast.bench.measure.Durations;
import dev.holdfast.bench.measure.Finding;
import dev.holdfast.bench.measure.NotApplicable;
import dev.holdfast.bench.measure.Reading;
import dev.holdfast.bench.measure.Sample;
import dev.holdfast.job.Kind;
import dev.holdfast.job.NewJob;
import dev.holdfast.tenant.TenantName;
import dev.holdfast.worker.Worker;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.atomic.AtomicLongArray;
import java.util.random.RandomGenerator;
import java.util.stream.IntStream;

/**
 * W11: a thousand tenants and one worker. What they cost together when nobody has anything, and how
 * long the others' jobs wait while one of them has more than can be done.
 */
public final class ManyTenants implements Workload {

  private static final int TENANTS = 1_000;
  private static final int LEAST_TENANTS = 50;
  private static final int FLOOD = 200_000;
  private static final int JOBS = 1_000;
  private static final int LEAST_JOBS = 300;
  // Their tables are new, and the server looks through all of them first.
  private static final Duration SETTLE = Duration.ofSeconds(60);
  private static final Duration PERIOD = Duration.ofMillis(20);
  private static final Duration IDLE = Duration.ofSeconds(30);
  private static final Duration LEAST_IDLE = Duration.ofSeconds(10);
  private static final Kind<Integer> NUMBERED = Kind.of("numbered", Integer.class);
  private static final Kind<Integer> FLOODING = Kind.of("flooding", Integer.class);

  @Override
  public List<? extends Finding> run(Bench bench) throws Exception {
    if (bench.contender().role() != Role.OURS) {
      return List.of(new NotApplicable("W11 tenants", "knows no tenants"));
    }
    bench.prepare(queue -> TENANTS);
    try (HikariDataSource pool = Pools.open(bench.server().jdbcUrl(), 10)) {
      Holdfast holdfast = Holdfast.on(pool).migrate();
      List<TenantName> tenants =
          IntStream.range(0, bench.scale().jobs(TENANTS, LEAST_TENANTS))
              .mapToObj(number -> new TenantName("bench_" + number))
              .toList();
      tenants.forEach(holdfast.tenants()::create);
      try {
        return measured(bench, holdfast, tenants);
      } finally {
        tenants.forEach(holdfast.tenants()::drop);
      }
    }
  }

  private static List<Sample> measured(Bench bench, Holdfast holdfast, List<TenantName> tenants)
      throws Exception {
    int jobs = bench.scale().jobs(JOBS, LEAST_JOBS);
    Starts starts = new Starts(3 * jobs);
    try (Worker worker =
        holdfast
            .workerForAllTenants()
            .configure(config -> config.withConcurrency(50))
            .handle(NUMBERED, (number, job) -> starts.started(number))
            .handle(FLOODING, (number, job) -> {})
            .start()) {
      Reading idle = idle(bench);
      Durations unused = wait(holdfast, tenants, starts, 2 * jobs, jobs); // to get going
      Durations alone = wait(holdfast, tenants, starts, 0, jobs);
      TenantName flooded = tenants.getFirst();
      for (int from = 0; from < FLOOD; from += 10_000) {
        holdfast
            .jobs(flooded)
            .enqueueAll(IntStream.range(0, 10_000).<NewJob>mapToObj(FLOODING::job).toList());
      }
      Durations beside = wait(holdfast, tenants.subList(1, tenants.size()), starts, jobs, jobs);
      String of = "W11 " + tenants.size() + " tenants";
      return List.of(
          Sample.of(
              of + ", idle, client CPU",
              "% of a core",
              100.0 * idle.clientCpuNanos() / idle.nanos()),
          Sample.of(
              of + ", idle, database CPU",
              "% of a core",
              100.0 * idle.databaseCpuNanos() / idle.nanos()),
          Sample.of(of + ", idle, transactions", "tx/s", idle.transactions() / idle.seconds()),
          Sample.of(of + ", wait p99, nobody floods", "ms", alone.millisAt(0.99)),
          Sample.of(of + ", wait p99 of the others, one floods", "ms", beside.millisAt(0.99)),
          Sample.of(
              of + ", wait p99, flooded / not", "×", beside.millisAt(0.99) / alone.millisAt(0.99)));
    }
  }

  private static Reading idle(Bench bench) {
    Pace.await(SETTLE);
    Reading before = Reading.take(bench.server());
    Pace.await(bench.scale().time(IDLE, LEAST_IDLE));
    return Reading.take(bench.server()).minus(before);
  }

  private static Durations wait(
      Holdfast holdfast, List<TenantName> tenants, Starts starts, int from, int jobs)
      throws Exception {
    RandomGenerator dice = RandomGenerator.of("L64X128MixRandom");
    CountDownLatch left = starts.expect(jobs);
    Pace pace = new Pace(PERIOD);
    AtomicLongArray committed = new AtomicLongArray(from + jobs);
    for (int number = from; number < from + jobs; number++) {
      pace.awaitNext();
      TenantName tenant = tenants.get(dice.nextInt(tenants.size()));
      holdfast.jobs(tenant).enqueue(NUMBERED.job(number));
      committed.set(number, System.nanoTime());
    }
    if (!left.await(120, TimeUnit.SECONDS)) {
      throw new TimeoutException(left.getCount() + " jobs did not start");
    }
    Durations waits = new Durations();
    for (int number = from; number < from + jobs; number++) {
      waits.add(Math.max(0, starts.nanos.get(number) - committed.get(number)));
    }
    return waits;
  }

  /** When each job started, each once. */
  private static final class Starts {
    final AtomicLongArray nanos;
    private final ConcurrentHashMap<Integer, Boolean> seen = new ConcurrentHashMap<>();
    private volatile CountDownLatch left = new CountDownLatch(0);

    Starts(int jobs) {
      nanos = new AtomicLongArray(jobs);
    }

    CountDownLatch expect(int jobs) {
      left = new CountDownLatch(jobs);
      return left;
    }

    void started(int number) {
      if (seen.putIfAbsent(number, true) != null) {
        throw new IllegalStateException("job " + number + " started twice");
      }
      nanos.set(number, System.nanoTime());
      left.countDown();
    }
  }
}
