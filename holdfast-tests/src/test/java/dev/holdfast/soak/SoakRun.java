package dev.holdfast.soak;

import com.zaxxer.hikari.HikariConfig;
import com.zaxxer.hikari.HikariDataSource;
import dev.holdfast.Holdfast;
import dev.holdfast.api.HoldfastClient;
import dev.holdfast.api.Json;
import dev.holdfast.chaos.fleet.Jvm;
import dev.holdfast.invariant.Violation;
import dev.holdfast.rig.RunDatabase;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.sql.SQLException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.TimeUnit;

/**
 * Two servers on a database of their own: one that lasts and is measured, one that is ended again
 * and again, by force and in good order, and everything that can be done with them at the same
 * time. What is over is kept for a minute, so that an hour is long.
 */
final class SoakRun implements AutoCloseable {

  private static final int HEAP_MEGABYTES = 256;
  private static final List<String> KEPT = List.of("SUCCEEDED", "FAILED", "LOGS", "SLOTS");
  private static final int KEPT_SECONDS = 60;

  private final Path directory;
  private final String jdbcUrl;
  private final HikariDataSource pool;
  private final Holdfast holdfast;
  private final Jvm lasting;
  private final Gauges gauges;
  private final Tally tally = new Tally();
  private final List<Violation> broken = new ArrayList<>();
  private Jvm other;
  private volatile HoldfastClient toOther;
  private int restarts;

  SoakRun(Path directory) throws SQLException, IOException {
    this.directory = directory;
    this.jdbcUrl = RunDatabase.create().jdbcUrl();
    HikariConfig config = new HikariConfig();
    config.setJdbcUrl(jdbcUrl);
    config.setMaximumPoolSize(2);
    this.pool = new HikariDataSource(config);
    this.holdfast = Holdfast.on(pool).migrate();
    this.lasting = node("lasting");
    this.other = node("other-0");
    this.toOther = client(other);
    this.gauges = new Gauges(lasting.process(), pool);
  }

  private Jvm node(String name) throws IOException {
    Path data = Files.createDirectories(directory.resolve(name));
    return Jvm.Launch.WHOLE.start(
        SoakNode.class, HEAP_MEGABYTES, directory.resolve(name + ".log"), jdbcUrl, data.toString());
  }

  private static String address(Jvm node) {
    return "http://127.0.0.1:" + node.firstLine().orTimeout(2, TimeUnit.MINUTES).join();
  }

  private static HoldfastClient client(Jvm node) {
    return HoldfastClient.at(address(node)).withTimeout(Duration.ofSeconds(5));
  }

  /** For so long, and until the other one was ended both by force and in good order. */
  void play(Duration length, Duration between, Duration restartEvery) throws Exception {
    HoldfastClient toLasting = client(lasting);
    for (String kept : KEPT) {
      toLasting.ask(
          "PUT",
          "/settings/RETENTION_%s_SECONDS".formatted(kept),
          Map.of(),
          Optional.of(Json.object().put("value", KEPT_SECONDS)));
    }
    try (Traffic traffic =
        new Traffic(toLasting, () -> toOther, new Visits(address(lasting)), tally)) {
      traffic.start();
      long began = System.nanoTime();
      long restarted = began;
      while (System.nanoTime() - began < length.toNanos() || restarts < 2) {
        TimeUnit.NANOSECONDS.sleep(between.toNanos());
        gauges.sample();
        broken.addAll(holdfast.invariants().check());
        if (System.nanoTime() - restarted > restartEvery.toNanos()) {
          restart();
          restarted = System.nanoTime();
        }
      }
    }
  }

  private void restart() throws Exception {
    restarts++;
    if (restarts % 2 == 0) {
      other.process().destroyForcibly();
    } else {
      other.process().toHandle().destroy();
    }
    other.process().waitFor(1, TimeUnit.MINUTES);
    toOther.close();
    other = node("other-" + restarts);
    toOther = client(other);
  }

  Gauges gauges() {
    return gauges;
  }

  Tally tally() {
    return tally;
  }

  int restarts() {
    return restarts;
  }

  /** Invariants that did not hold, at any of the looks taken. */
  List<Violation> broken() {
    return broken;
  }

  boolean lasts() {
    return lasting.process().isAlive();
  }

  @Override
  public void close() {
    other.process().destroyForcibly();
    lasting.process().destroyForcibly();
    pool.close();
  }
}
