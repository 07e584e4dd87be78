package dev.holdfast.chaos;

import com.zaxxer.hikari.HikariConfig;
import com.zaxxer.hikari.HikariDataSource;
import dev.holdfast.Holdfast;
import dev.holdfast.chaos.Workload.Made;
import dev.holdfast.hold.Holds;
import dev.holdfast.queue.Enqueued;
import dev.holdfast.tenant.TenantName;
import dev.holdfast.testkit.TestDatabase;
import java.io.BufferedWriter;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.sql.Connection;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.SplittableRandom;
import java.util.concurrent.TimeUnit;
import java.util.function.Predicate;
import java.util.stream.IntStream;
import java.util.stream.Stream;

/**
 * One run: a database, a ledger, a fleet, a nemesis, and jobs for as long as it is to last. For one
 * thread.
 *
 * <p>The database is of this run alone, because the count of deadlocks is the database's. Whether
 * everything has drained is asked again and again until a deadline: nobody outside the workers
 * hears of the last job.
 */
final class ChaosRun implements AutoCloseable {

  private static final int WORKERS = 4;
  private static final int LEDGER_MEGABYTES = 256;
  private static final int BATCH = 220;
  private static final int MOST_LIVE = 400;
  private static final Duration LONGEST_ROUND = Duration.ofSeconds(8);
  private static final Duration POLL = Duration.ofMillis(100);
  private static final Duration DRAIN_DEADLINE = Duration.ofMinutes(4);

  private final Path directory;
  private final HikariDataSource pool;
  private final Holdfast holdfast;
  private final Jvm ledgerProcess;
  private final LedgerClient ledger;
  private final Fleet fleet;
  private final Nemesis nemesis;
  private final Workload workload;
  private final List<Acknowledged> acknowledged = new ArrayList<>();
  private final List<dev.holdfast.invariant.Violation> broken = new ArrayList<>();
  private Duration drained = Duration.ZERO;

  ChaosRun(long seed) throws IOException, SQLException {
    SplittableRandom dice = new SplittableRandom(seed);
    workload = new Workload(dice.split());
    directory =
        Files.createTempDirectory(Files.createDirectories(Path.of("target", "chaos")), "run");
    String jdbcUrl = database("chaos_" + Long.toHexString(System.nanoTime()));
    pool = pool(jdbcUrl);
    holdfast = Holdfast.on(pool).migrate();
    ledgerProcess =
        Jvm.start(
            Ledger.class,
            Jvm.classpathOf(Ledger.class),
            LEDGER_MEGABYTES,
            directory.resolve("ledger.log"),
            ledgerFile().toString());
    int port = Integer.parseInt(ledgerProcess.firstLine().join());
    ledger = new LedgerClient(port, "nemesis");
    fleet = new Fleet(jdbcUrl, port, directory);
    nemesis = new Nemesis(fleet, ledger, dice.split());
  }

  private static String database(String name) throws SQLException {
    TestDatabase server = TestDatabase.shared();
    try (Connection connection = server.dataSource().getConnection();
        Statement statement = connection.createStatement()) {
      statement.execute("CREATE DATABASE " + name);
    }
    return server.jdbcUrl().replace("/postgres?", "/" + name + "?");
  }

  private static HikariDataSource pool(String jdbcUrl) {
    HikariConfig config = new HikariConfig();
    config.setJdbcUrl(jdbcUrl);
    config.setMaximumPoolSize(4);
    config.setMinimumIdle(1);
    return new HikariDataSource(config);
  }

  /** Goes on at least so long, and until it is said to be enough. */
  void play(Duration atLeast, Predicate<ChaosRun> enough) throws Exception {
    fleet.start(WORKERS);
    long began = System.nanoTime();
    try (BufferedWriter log = Files.newBufferedWriter(directory.resolve("enqueued"))) {
      while (System.nanoTime() - began < atLeast.toNanos() || !enough.test(this)) {
        // Hitting those who are behind already would make it longer, not harder.
        if (hasRoom()) {
          enqueue(log);
          nemesis.act();
        }
        broken.addAll(holdfast.invariants().check());
      }
    }
    nemesis.rest();
    awaitDrained();
    fleet.drain();
    broken.addAll(holdfast.invariants().check());
    ledgerProcess.closeInput();
    ledgerProcess.process().waitFor();
  }

  // Waits for workers to get on with what they have, so that chaos is as fast as the machine is,
  // but not so long that nobody looks at the invariants.
  private boolean hasRoom() throws InterruptedException {
    long began = System.nanoTime();
    while (live() > MOST_LIVE) {
      if (System.nanoTime() - began > LONGEST_ROUND.toNanos()) {
        return false;
      }
      TimeUnit.MILLISECONDS.sleep(POLL.toMillis());
    }
    return true;
  }

  private void enqueue(BufferedWriter log) throws IOException {
    List<Made> batch = IntStream.range(0, BATCH).mapToObj(i -> workload.next()).toList();
    List<Enqueued> stored = holdfast.jobs().enqueueAll(batch.stream().map(Made::job).toList());
    for (int i = 0; i < batch.size(); i++) {
      Acknowledged job =
          batch.get(i).acknowledged(stored.get(i).id().toString(), acknowledged.size());
      acknowledged.add(job);
      log.write(job.line() + "\n");
    }
    log.flush();
  }

  private void awaitDrained() throws InterruptedException {
    long began = System.nanoTime();
    while (live() > 0) {
      drained = Duration.ofNanos(System.nanoTime() - began);
      if (drained.compareTo(DRAIN_DEADLINE) > 0) {
        throw new AssertionError(live() + " jobs are left after " + drained + "; " + directory);
      }
      TimeUnit.MILLISECONDS.sleep(POLL.toMillis());
    }
  }

  private long live() {
    var db = holdfast.tenants().open(TenantName.DEFAULT).db();
    return db.jdbi()
        .withHandle(handle ->
            handle
                .createQuery(db.sql("SELECT count(*) FROM {schema}.job"))
                .mapTo(Long.class)
                .one());
  }

  List<Violation> violations() throws IOException {
    try (Stream<String> lines = Files.lines(ledgerFile())) {
      return Verdict.of(lines.map(Entry::parse), acknowledged, Holds.KILL_GRACE);
    }
  }

  Figures figures() throws IOException {
    try (Stream<String> lines = Files.lines(ledgerFile())) {
      return Figures.of(lines.map(Entry::parse), Workload.LEASE);
    }
  }

  List<Acknowledged> acknowledged() {
    return acknowledged;
  }

  /** Invariants that did not hold, at any of the many looks taken. */
  List<dev.holdfast.invariant.Violation> broken() {
    return broken;
  }

  long deadlocks() {
    return holdfast.invariants().deadlocks();
  }

  List<String> surprises() {
    return fleet.surprises();
  }

  Nemesis nemesis() {
    return nemesis;
  }

  Duration drained() {
    return drained;
  }

  Path directory() {
    return directory;
  }

  private Path ledgerFile() {
    return directory.resolve("ledger");
  }

  @Override
  public void close() throws IOException {
    fleet.close();
    ledger.close();
    ledgerProcess.process().destroyForcibly();
    pool.close();
  }
}
