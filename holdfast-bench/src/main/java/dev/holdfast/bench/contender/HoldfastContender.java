package dev.holdfast.bench.contender;

import com.zaxxer.hikari.HikariDataSource;
import dev.holdfast.Holdfast;
import dev.holdfast.bench.measure.Server;

/**
 * Holdfast as users get it: fences, attempts and history on.
 *
 * @param concurrency of its one worker
 */
public record HoldfastContender(int concurrency) implements Contender {

  private static final String DROP =
      """
      DROP SCHEMA IF EXISTS holdfast_default CASCADE;
      DROP SCHEMA IF EXISTS holdfast CASCADE;
      """;

  @Override
  public String name() {
    return "holdfast";
  }

  @Override
  public Role role() {
    return Role.OURS;
  }

  @Override
  public String settings() {
    return "worker concurrency " + concurrency;
  }

  @Override
  public boolean canFill(Backlog backlog) {
    return true;
  }

  @Override
  public boolean knowsKeys() {
    return true;
  }

  @Override
  public boolean tellsClaims() {
    return true;
  }

  @Override
  public void reset(Server server) {
    server.execute(DROP);
    try (HikariDataSource pool = Pools.open(server.jdbcUrl(), 4)) {
      Holdfast.on(pool).migrate();
    }
  }

  @Override
  public JobQueue open(Server server) {
    return new HoldfastQueue(
        Pools.open(server.jdbcUrl(), Pools.CONNECTIONS),
        Pools.open(server.jdbcUrl(), 2),
        concurrency);
  }
}
