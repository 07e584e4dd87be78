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
import dev.holdfast.job.NewJob;
import dev.holdfast.queue.Jobs;
import dev.holdfast.server.HoldfastServer;
import dev.holdfast.server.RequestLimits;
import dev.holdfast.server.ServerConfig;
import dev.holdfast.server.ServerRole;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.stream.IntStream;

/**
 * W10: a thousand workers that wait by HTTP; first for nothing, then for two thousand jobs a
 * second. The workers are a process of their own, so what they cost is not in the server's figures;
 * but on few cores they take the time that the server would need.
 */
public final class Remote implements Workload {

  private static final int WORKERS = 1_000;
  private static final Duration TIME = Duration.ofSeconds(60);
  private static final Duration LEAST_TIME = Duration.ofSeconds(10);
  private static final Duration SETTLE = Duration.ofSeconds(5);
  private static final Duration WARM_UP = Duration.ofSeconds(15);
  private static final int JOBS_PER_TICK = 20;
  private static final Duration TICK = Duration.ofMillis(10);

  @Override
  public List<? extends Finding> run(Bench bench) throws Exception {
    if (bench.contender().role() != Role.OURS) {
      return List.of(new NotApplicable("W10 remote", "has no workers over HTTP"));
    }
    bench.prepare(queue -> TIME);
    Path data = Files.createTempDirectory("holdfast-bench");
    ServerConfig config =
        ServerConfig.defaults(data)
            .withAuth(false)
            .withAddress("127.0.0.1", 0)
            .withRoles(Set.of(ServerRole.WEB))
            .withLimits(new RequestLimits(1_000_000, 2 * WORKERS, 10, 1 << 20));
    Duration time = bench.scale().time(TIME, LEAST_TIME);
    int before = jobsIn(WARM_UP);
    int jobs = jobsIn(time);
    try (HikariDataSource pool = Pools.open(bench.server().jdbcUrl(), 20);
        HoldfastServer server = HoldfastServer.start(config, pool, Map.of());
        Fork fleet = fleet(server.port().orElseThrow(), before + jobs)) {
      Jobs queue = Holdfast.on(pool).jobs();
      enqueue(queue, 0, before);
      Reading idle = idle(bench, time);
      long beganNanos = System.nanoTime();
      long[] committed = enqueue(queue, before, before + jobs);
      Report report = Report.read(fleet.answer(), before, committed);
      return List.of(
          Sample.of(
              "W10 remote, idle, CPU of the server",
              "% of a core",
              100.0 * idle.clientCpuNanos() / idle.nanos()),
          Sample.of(
              "W10 remote, idle, CPU of the database",
              "% of a core",
              100.0 * idle.databaseCpuNanos() / idle.nanos()),
          Sample.of("W10 remote, idle, transactions", "tx/s", idle.transactions() / idle.seconds()),
          Sample.of("W10 remote, requests without an answer", "requests", report.failures),
          Sample.of(
              "W10 remote, claimed and finished",
              "jobs/s",
              jobs * 1e9 / (report.endedNanos - beganNanos)),
          Sample.of("W10 remote, commit to lease, p50", "ms", report.waits.millisAt(0.5)),
          Sample.of("W10 remote, commit to lease, p99", "ms", report.waits.millisAt(0.99)));
    }
  }

  private static int jobsIn(Duration time) {
    return (int) time.dividedBy(TICK) * JOBS_PER_TICK;
  }

  private static Fork fleet(int port, int jobs) throws IOException {
    return Fork.start(
        List.of("-Xmx1g"),
        List.of("fleet", "--port=" + port, "--workers=" + WORKERS, "--jobs=" + jobs));
  }

  /** What the fleet said; its clock is ours, since both are the machine's monotonic one. */
  private record Report(int failures, long endedNanos, Durations waits) {

    static Report read(String answer, int first, long[] committed) {
      List<String> lines = answer.lines().toList();
      String[] head = lines.getFirst().split(" ", 2);
      Durations waits = new Durations();
      for (int number = 0; number < committed.length; number++) {
        String[] job = lines.get(1 + first + number).split(" ", 2);
        if (!job[1].equals("1")) {
          throw new IllegalStateException("job " + number + " ended " + job[1] + " times");
        }
        waits.add(Math.max(0, Long.parseLong(job[0]) - committed[number]));
      }
      return new Report(Integer.parseInt(head[0]), Long.parseLong(head[1]), waits);
    }
  }

  private static Reading idle(Bench bench, Duration time) {
    Pace.await(SETTLE);
    Reading before = Reading.take(bench.server());
    Pace.await(time);
    return Reading.take(bench.server()).minus(before);
  }

  private static long[] enqueue(Jobs jobs, int first, int end) {
    long[] committed = new long[end - first];
    Pace pace = new Pace(TICK);
    for (int from = first; from < end; from += JOBS_PER_TICK) {
      pace.awaitNext();
      jobs.enqueueAll(
          IntStream.range(from, from + JOBS_PER_TICK)
              .mapToObj(number -> NewJob.of("remote", number))
              .toList());
      Arrays.fill(committed, from - first, from - first + JOBS_PER_TICK, System.nanoTime());
    }
    return committed;
  }
}
