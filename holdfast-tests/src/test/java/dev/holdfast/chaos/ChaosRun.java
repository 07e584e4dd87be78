package dev.holdfast.chaos;

import com.zaxxer.hikari.HikariConfig;
import com.zaxxer.hikari.HikariDataSource;
import dev.holdfast.Holdfast;
import dev.holdfast.chaos.fleet.Archive;
import dev.holdfast.chaos.fleet.Berth;
import dev.holdfast.chaos.fleet.Fleet;
import dev.holdfast.chaos.fleet.Jvm;
import dev.holdfast.chaos.fleet.Role;
import dev.holdfast.chaos.ledger.Entry;
import dev.holdfast.chaos.ledger.Ledger;
import dev.holdfast.chaos.ledger.LedgerClient;
import dev.holdfast.chaos.load.Operator;
import dev.holdfast.chaos.load.Timetable;
import dev.holdfast.chaos.load.Workload;
import dev.holdfast.chaos.nemesis.Blow;
import dev.holdfast.chaos.nemesis.Cables;
import dev.holdfast.chaos.nemesis.Nemesis;
import dev.holdfast.chaos.verdict.Acknowledged;
import dev.holdfast.chaos.verdict.Figures;
import dev.holdfast.chaos.verdict.FiredSlot;
import dev.holdfast.chaos.verdict.Verdict;
import dev.holdfast.chaos.verdict.Violation;
import dev.holdfast.error.HoldfastException;
import dev.holdfast.hold.Holds;
import dev.holdfast.rig.RunDatabase;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.SplittableRandom;
import java.util.concurrent.TimeUnit;
import java.util.function.BooleanSupplier;
import java.util.stream.Stream;

/**
 * One run: a database, a ledger, a fleet, a nemesis, an operator, and jobs for as long as it is to
 * last. For one thread.
 *
 * <p>Whether everything has drained is asked again and again until a deadline: nobody outside the
 * workers hears of the last job.
 */
final class ChaosRun implements AutoCloseable {

  private static final int SERVERS = 2;
  // A short run is to have many blows, a long one also many jobs.
  private static final int JOBS_PER_BLOW = 40;
  private static final int JOBS_PER_BLOW_IN_LONG_RUNS = 100;
  private static final int LEDGER_MEGABYTES = 512;
  private static final Duration POLL = Duration.ofMillis(200);
  private static final Duration OPERATOR_LOOKS = Duration.ofMillis(500);
  private static final Duration DRAIN_DEADLINE = Duration.ofMinutes(4);

  private final int jobsPerBlow;
  private final Path directory;
  private final HikariDataSource pool;
  private final Holdfast holdfast;
  private final Jvm ledgerProcess;
  private final LedgerClient ledger;
  private final Cables cables;
  private final Fleet fleet;
  private final Nemesis nemesis;
  private final Operator operator;
  private final Timetable timetable;
  private final Producer producer;
  private final Watch watch;
  private final Rounds rounds = new Rounds();
  private List<FiredSlot> slots = List.of();
  private Duration drained = Duration.ZERO;

  /** In a short one nothing is done to the database: others on it would suffer from that. */
  ChaosRun(long seed, boolean isLong) throws Exception {
    jobsPerBlow = isLong ? JOBS_PER_BLOW_IN_LONG_RUNS : JOBS_PER_BLOW;
    SplittableRandom dice = new SplittableRandom(seed);
    directory =
        Files.createTempDirectory(
            Files.createDirectories(Path.of("target", "chaos").toAbsolutePath()), "run");
    RunDatabase database = RunDatabase.create();
    pool = pool(database.jdbcUrl());
    holdfast = Holdfast.on(pool).migrate();
    ledgerProcess =
        Jvm.Launch.only(Ledger.class)
            .start(
                Ledger.class,
                LEDGER_MEGABYTES,
                directory.resolve("ledger.log"),
                ledgerFile().toString());
    int port = Integer.parseInt(ledgerProcess.firstLine().join());
    ledger = new LedgerClient(port, "nemesis");
    cables = Cables.to(database.port(), SERVERS);
    fleet = new Fleet(archive(database, port), port, directory);
    nemesis =
        new Nemesis(
            new Nemesis.Victims(fleet, cables, database::crash),
            ledger,
            isLong ? Set.of() : Set.of(Blow.CRASH_DATABASE),
            dice.split());
    operator = new Operator(holdfast, new LedgerClient(port, "operator"), dice.split());
    timetable = new Timetable(holdfast);
    producer = new Producer(holdfast, pool, new Workload(dice.split(), command(port)), directory);
    watch = new Watch(holdfast);
    fleet.start(berths(database));
  }

  private static HikariDataSource pool(String jdbcUrl) {
    HikariConfig config = new HikariConfig();
    config.setJdbcUrl(jdbcUrl);
    config.setMaximumPoolSize(6);
    config.setMinimumIdle(1);
    return new HikariDataSource(config);
  }

  private Jvm.Launch archive(RunDatabase database, int ledgerPort) throws Exception {
    Path prepared = directory.resolve("prepared");
    return Archive.make(
        prepared,
        "rehearsal",
        String.valueOf(ledgerPort),
        database.jdbcUrl(),
        prepared.resolve("data").toString());
  }

  private List<String> command(int ledgerPort) throws IOException {
    Path script = directory.resolve("command.sh");
    try (var in = ChaosRun.class.getResourceAsStream("/chaos-command.sh")) {
      Files.copy(in, script);
    }
    return List.of("bash", script.toString(), String.valueOf(ledgerPort));
  }

  private List<Berth> berths(RunDatabase database) {
    String forServers = database.jdbcUrl(cables.serversToDatabase().port());
    String forWorkers = database.jdbcUrl(cables.workersToDatabase().port());
    List<Berth> all = new ArrayList<>();
    for (int i = 0; i < SERVERS; i++) {
      var cable = cables.toServers().get(i);
      all.add(
          new Berth(Role.SERVER, i, forServers, directory.resolve("server" + i).toString())
              .onReady(port -> cable.leadTo(Integer.parseInt(port))));
    }
    String first = cables.toServers().getFirst().url();
    String second = cables.toServers().getLast().url();
    all.add(new Berth(Role.DATABASE_WORKER, 1, forWorkers));
    all.add(new Berth(Role.DATABASE_WORKER, 2, forWorkers));
    all.add(new Berth(Role.DATABASE_WORKER, 3, forWorkers));
    all.add(new Berth(Role.HTTP_WORKER, 1, first));
    all.add(new Berth(Role.HTTP_WORKER, 2, second));
    all.add(new Berth(Role.AGENT, 1, first, directory.resolve("agent1").toString()));
    all.add(new Berth(Role.AGENT, 2, second, directory.resolve("agent2").toString()));
    all.add(new Berth(Role.PULL_WORKER, 1, second));
    return all;
  }

  /** Goes on at least so long, and until it is said to be enough. */
  void play(Duration atLeast, BooleanSupplier enough) throws Exception {
    Again.until(timetable::begin);
    long began = System.nanoTime();
    rounds.start("operator", this::lookAfterTargets);
    rounds.start("watch", watch::look);
    rounds.start("producer", producer::produce);
    Rounds nemesisOnly = new Rounds();
    nemesisOnly.start("nemesis", this::strike);
    while (System.nanoTime() - began < atLeast.toNanos() || !enough.getAsBoolean()) {
      TimeUnit.MILLISECONDS.sleep(POLL.toMillis());
      rounds.check();
      nemesisOnly.check();
    }
    nemesisOnly.stop();
    nemesis.rest();
    producer.stop();
    Again.until(timetable::end);
    awaitDrained();
    rounds.stop();
    fleet.drain();
    Again.until(watch::lookClosely);
    slots = Again.until(timetable::slots);
    Files.write(directory.resolve("slots"), slots.stream().map(FiredSlot::line).toList());
    ledgerProcess.closeInput();
    ledgerProcess.process().waitFor();
  }

  // By the clock where jobs get done. Where the machine has no time for them, hitting those who are
  // behind already would make it longer, not harder.
  private Duration strike() throws IOException {
    if (nemesis.blows() <= producer.count() / jobsPerBlow) {
      nemesis.act();
    }
    return nemesis.untilNext();
  }

  private Duration lookAfterTargets() {
    try {
      operator.look();
    } catch (HoldfastException e) {
      // The database is away; the operator, too, tries again.
    }
    return OPERATOR_LOOKS;
  }

  private void awaitDrained() throws Exception {
    long began = System.nanoTime();
    while (!Again.until(watch::hasDrained)) {
      rounds.check();
      drained = Duration.ofNanos(System.nanoTime() - began);
      if (drained.compareTo(DRAIN_DEADLINE) > 0) {
        throw new AssertionError(
            watch.live() + " jobs are left after " + drained + "; " + directory);
      }
      TimeUnit.MILLISECONDS.sleep(POLL.toMillis());
    }
  }

  List<Violation> violations() throws IOException {
    List<Acknowledged> jobs = new ArrayList<>(producer.acknowledged());
    jobs.addAll(Timetable.jobs(slots));
    try (Stream<String> lines = Files.lines(ledgerFile())) {
      return Verdict.of(
          lines.map(Entry::parse),
          new Verdict.Said(jobs, slots, Timetable.EVERY),
          Holds.KILL_GRACE);
    }
  }

  Figures figures() throws IOException {
    try (Stream<String> lines = Files.lines(ledgerFile())) {
      return Figures.of(lines.map(Entry::parse), Workload.LEASE);
    }
  }

  int jobs() {
    return producer.count();
  }

  List<FiredSlot> slots() {
    return slots;
  }

  List<String> surprises() {
    return fleet.surprises();
  }

  Nemesis nemesis() {
    return nemesis;
  }

  Operator operator() {
    return operator;
  }

  Watch watch() {
    return watch;
  }

  Cables cables() {
    return cables;
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
    rounds.stop();
    fleet.close();
    ledger.close();
    ledgerProcess.process().destroyForcibly();
    cables.close();
    pool.close();
  }
}
