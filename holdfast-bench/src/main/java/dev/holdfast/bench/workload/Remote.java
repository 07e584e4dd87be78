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
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.stream.IntStream;

/**
 * W10: a thousand workers that wait by HTTP; first for nothing, then for two thousand jobs a
 * second. The workers share a process with the server, so what they cost is in the figures, too.
 */
public final class Remote implements Workload {

  private static final int WORKERS = 1_000;
  private static final Duration TIME = Duration.ofSeconds(60);
  private static final Duration LEAST_TIME = Duration.ofSeconds(10);
  private static final Duration SETTLE = Duration.ofSeconds(5);
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
    try (HikariDataSource pool = Pools.open(bench.server().jdbcUrl(), 20);
        HoldfastServer server = HoldfastServer.start(config, pool, Map.of());
        RemoteFleet fleet = RemoteFleet.start(server.port().orElseThrow(), WORKERS)) {
      Duration time = bench.scale().time(TIME, LEAST_TIME);
      Reading idle = idle(bench, time);
      Durations claims = load(Holdfast.on(pool).jobs(), fleet, time);
      return List.of(
          Sample.of(
              "W10 remote, idle, CPU of workers and server",
              "% of a core",
              100.0 * idle.clientCpuNanos() / idle.nanos()),
          Sample.of(
              "W10 remote, idle, CPU of the database",
              "% of a core",
              100.0 * idle.databaseCpuNanos() / idle.nanos()),
          Sample.of("W10 remote, idle, transactions", "tx/s", idle.transactions() / idle.seconds()),
          Sample.of("W10 remote, requests without an answer", "requests", fleet.failures()),
          Sample.of("W10 remote, claimed and finished", "jobs/s", fleet.finishedPerSecond()),
          Sample.of("W10 remote, commit to lease, p50", "ms", claims.millisAt(0.5)),
          Sample.of("W10 remote, commit to lease, p99", "ms", claims.millisAt(0.99)));
    }
  }

  private static Reading idle(Bench bench, Duration time) {
    Pace.await(SETTLE);
    Reading before = Reading.take(bench.server());
    Pace.await(time);
    return Reading.take(bench.server()).minus(before);
  }

  private static Durations load(Jobs jobs, RemoteFleet fleet, Duration time) throws Exception {
    int ticks = (int) time.dividedBy(TICK);
    fleet.expect(ticks * JOBS_PER_TICK);
    Pace pace = new Pace(TICK);
    for (int tick = 0; tick < ticks; tick++) {
      pace.awaitNext();
      int from = tick * JOBS_PER_TICK;
      jobs.enqueueAll(
          IntStream.range(from, from + JOBS_PER_TICK)
              .mapToObj(number -> NewJob.of("remote", number))
              .toList());
      fleet.committed(from, JOBS_PER_TICK);
    }
    return fleet.awaitAll();
  }
}
