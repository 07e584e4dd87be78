package dev.holdfast.bench.workload;

import com.zaxxer.hikari.HikariDataSource;
import dev.holdfast.bench.contender.Pools;
import dev.holdfast.bench.contender.Role;
import dev.holdfast.bench.measure.Bench;
import dev.holdfast.bench.measure.Finding;
import dev.holdfast.bench.measure.NotApplicable;
import dev.holdfast.bench.measure.Reading;
import dev.holdfast.bench.measure.Sample;
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

/**
 * W13: five hundred agents of the agents' dialect that each ask for a job once a second and get
 * none, while two hundred jobs are reported on once a second, each report written to its file. The
 * agents share a process with the server, so what they cost is in the figures, too.
 */
public final class Polling implements Workload {

  private static final int AGENTS = 500;
  private static final int REPORTING = 200;
  private static final Duration TIME = Duration.ofSeconds(60);
  private static final Duration LEAST_TIME = Duration.ofSeconds(10);
  private static final Duration SETTLE = Duration.ofSeconds(10);

  @Override
  public List<? extends Finding> run(Bench bench) throws Exception {
    if (bench.contender().role() != Role.OURS) {
      return List.of(new NotApplicable("W13 agents", "has no agents that poll"));
    }
    bench.prepare(queue -> TIME);
    Path data = Files.createTempDirectory("holdfast-bench");
    ServerConfig config =
        ServerConfig.defaults(data)
            .withAuth(false)
            .withAddress("127.0.0.1", 0)
            .withRoles(Set.of(ServerRole.WEB))
            .withLimits(new RequestLimits(1_000_000, 2 * AGENTS, 10, 1 << 20));
    try (HikariDataSource pool = Pools.open(bench.server().jdbcUrl(), 20);
        HoldfastServer server = HoldfastServer.start(config, pool, Map.of());
        PollingFleet fleet = new PollingFleet(server.port().orElseThrow())) {
      fleet.start(AGENTS, REPORTING);
      Pace.await(SETTLE);
      fleet.forget();
      Reading before = Reading.take(bench.server());
      Pace.await(bench.scale().time(TIME, LEAST_TIME));
      Reading used = Reading.take(bench.server()).minus(before);
      return List.of(
          Sample.of("W13 agents, asked", "requests/s", fleet.asking().count() / used.seconds()),
          Sample.of("W13 agents, asked, p50", "ms", fleet.asking().millisAt(0.5)),
          Sample.of("W13 agents, asked, p99", "ms", fleet.asking().millisAt(0.99)),
          Sample.of(
              "W13 agents, reported", "requests/s", fleet.reporting().count() / used.seconds()),
          Sample.of("W13 agents, reported, p50", "ms", fleet.reporting().millisAt(0.5)),
          Sample.of("W13 agents, reported, p99", "ms", fleet.reporting().millisAt(0.99)),
          Sample.of("W13 agents, errors", "requests", fleet.failures()),
          Sample.of(
              "W13 agents, CPU of agents and server",
              "% of a core",
              100.0 * used.clientCpuNanos() / used.nanos()),
          Sample.of(
              "W13 agents, CPU of the database",
              "% of a core",
              100.0 * used.databaseCpuNanos() / used.nanos()),
          Sample.of("W13 agents, transactions", "tx/s", used.transactions() / used.seconds()));
    }
  }
}
