package dev.holdfast.chaos;

import com.zaxxer.hikari.HikariConfig;
import com.zaxxer.hikari.HikariDataSource;
import dev.holdfast.Holdfast;
import dev.holdfast.chaos.fleet.Archive;
import dev.holdfast.chaos.fleet.Berth;
import dev.holdfast.chaos.fleet.DialectAgent;
import dev.holdfast.chaos.fleet.Fleet;
import dev.holdfast.chaos.fleet.Jvm;
import dev.holdfast.chaos.fleet.Role;
import dev.holdfast.chaos.ledger.Ledger;
import dev.holdfast.chaos.ledger.LedgerClient;
import dev.holdfast.chaos.load.InTransactions;
import dev.holdfast.chaos.load.Operator;
import dev.holdfast.chaos.load.OverHttp;
import dev.holdfast.chaos.load.Timetable;
import dev.holdfast.chaos.load.Workload;
import dev.holdfast.chaos.nemesis.Cables;
import dev.holdfast.chaos.nemesis.Nemesis;
import dev.holdfast.chaos.verdict.Acknowledged;
import dev.holdfast.chaos.verdict.Figures;
import dev.holdfast.chaos.verdict.FiredSlot;
import dev.holdfast.chaos.verdict.Hours;
import dev.holdfast.chaos.verdict.LostAttempt;
import dev.holdfast.chaos.verdict.Violation;
import dev.holdfast.error.HoldfastException;
import dev.holdfast.rig.Cable;
import dev.holdfast.rig.RunDatabase;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.SplittableRandom;
import java.util.UUID;
import java.util.concurrent.TimeUnit;

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
  private static final int JOBS_PER_BLOW_IN_LONG_RUNS = 80;
  private static final int HASTE_IN_LONG_RUNS = 2;
  private static final int LEDGER_MEGABYTES = 512;
  private static final Duration POLL = Duration.ofMillis(200);
  private static final Duration OPERATOR_LOOKS = Duration.ofMillis(500);
  private static final Duration DRAIN_DEADLINE = Duration.ofMinutes(4);
  private static final Duration SLOTS_DEADLINE = Duration.ofMinutes(1);

  private final Size size;
  private final Path directory;
  private final RunFiles files;
  private final HikariDataSource pool;
  private final HikariDataSource applications; // by a link that is cut
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
  private final Stall stall;
  private final Rounds rounds = new Rounds();
  private List<FiredSlot> slots = List.of();
  private Duration drained = Duration.ZERO;

  ChaosRun(Size size) throws Exception {
    this.size = size;
    SplittableRandom dice = new SplittableRandom(size.seed());
    directory =
        Files.createTempDirectory(
            Files.createDirectories(Path.of("target", "chaos").toAbsolutePath()), "run");
    files = new RunFiles(directory);
    RunDatabase database = RunDatabase.create();
    pool = pool(database.jdbcUrl());
    holdfast = Holdfast.on(pool).migrate();
    ledgerProcess =
        Jvm.Launch.only(Ledger.class)
            .start(
                Ledger.class,
                LEDGER_MEGABYTES,
                directory.resolve("ledger.log"),
                files.ledger().toString());
    int port = Integer.parseInt(ledgerProcess.firstLine().join());
    ledger = new LedgerClient(port, "nemesis");
    ledger.says("clock " + System.currentTimeMillis());
    cables = Cables.to(database.port(), SERVERS);
    fleet = new Fleet(archive(database, port), port, directory);
    nemesis =
        new Nemesis(
            new Nemesis.Victims(fleet, cables, database::crash),
            ledger,
            size.blows(),
            dice.split());
    operator = new Operator(holdfast, new LedgerClient(port, "operator"), dice.split());
    timetable = new Timetable(holdfast);
    applications = pool(database.jdbcUrl(cables.applicationsToDatabase().port()));
    producer =
        new Producer(
            holdfast,
            List.of(
                new InTransactions(applications, pool),
                new OverHttp(cables.toServers().stream().map(Cable::url).toList())),
            new Workload(dice.split(), command(port)),
            files.enqueued());
    watch = new Watch(holdfast, producer::count);
    stall = new Stall(files.ledger(), holdfast);
    fleet.start(berths(database));
    for (String lease : List.of("QUEUE_CLAIM_TTL", "JOB_STATUS_TTL")) {
      ServerSettings.put(cables.toServers().getFirst().url(), lease, DialectAgent.LEASE_SECONDS);
    }
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
          new Berth(
                  Role.SERVER,
                  i,
                  forServers,
                  directory.resolve("server" + i).toString(),
                  directory.resolve("shared").toString())
              .onReady(port -> cable.leadTo(Integer.parseInt(port))));
    }
    String first = cables.toServers().getFirst().url();
    String second = cables.toServers().getLast().url();
    all.add(new Berth(Role.DATABASE_WORKER, 1, forWorkers));
    all.add(new Berth(Role.DATABASE_WORKER, 2, forWorkers));
    all.add(new Berth(Role.DATABASE_WORKER, 3, forWorkers));
    all.add(served(0, new Berth(Role.HTTP_WORKER, 1, first)));
    all.add(served(1, new Berth(Role.HTTP_WORKER, 2, second)));
    all.add(served(0, new Berth(Role.AGENT, 1, first, directory.resolve("agent1").toString())));
    all.add(served(1, new Berth(Role.AGENT, 2, second, directory.resolve("agent2").toString())));
    all.add(served(1, new Berth(Role.PULL_WORKER, 1, second)));
    all.add(served(0, new Berth(Role.DIALECT_AGENT, 1, first)));
    return all;
  }

  // The verdict has to know whom a blow to a server can concern.
  private Berth served(int server, Berth berth) {
    ledger.says("serves s%d %s".formatted(server, berth.name()));
    return berth;
  }

  /** Goes on until it has done enough. */
  void play() throws Exception {
    Again.until(timetable::begin);
    long began = System.nanoTime();
    rounds.start("operator", this::lookAfterTargets);
    rounds.start("watch", watch::look);
    rounds.start("stall", stall::look);
    rounds.start("producer", producer::produce);
    Rounds nemesisOnly = new Rounds();
    nemesisOnly.start("nemesis", this::strike);
    while (System.nanoTime() - began < size.atLeast().toNanos()
        || !size.isEnough(producer.count(), nemesis)
        || !(size.isPartial() || files.hasRefused())) {
      TimeUnit.MILLISECONDS.sleep(POLL.toMillis());
      rounds.check();
      nemesisOnly.check();
    }
    nemesisOnly.stop();
    nemesis.rest();
    producer.stop();
    Hours hours = endTimetable();
    awaitDrained();
    rounds.stop();
    fleet.drain();
    Again.until(watch::lookForTheLastTime);
    slots = Again.until(timetable::slots);
    files.write(slots, hours, Again.until(this::lost));
    ledgerProcess.closeInput();
    ledgerProcess.process().waitFor();
  }

  // What is due is decided about first. Who never gets there has left something out, which the
  // verdict will find.
  private Hours endTimetable() throws InterruptedException {
    Instant closing = Instant.now();
    Instant deadline = closing.plus(SLOTS_DEADLINE);
    while (!Again.until(() -> timetable.isDecidedUntil(closing))
        && Instant.now().isBefore(deadline)) {
      TimeUnit.MILLISECONDS.sleep(POLL.toMillis());
    }
    return Again.until(() -> timetable.end(closing));
  }

  private List<LostAttempt> lost() {
    List<LostAttempt> all = new ArrayList<>();
    for (Acknowledged job : producer.acknowledged()) {
      if (job.doomed()) {
        holdfast.jobs().attempts(UUID.fromString(job.job())).stream()
            .filter(attempt -> attempt.outcome().equals("lost"))
            .map(attempt ->
                new LostAttempt(
                    job.job(),
                    attempt.number(),
                    attempt.fence(),
                    attempt.worker(),
                    attempt.startedAt()))
            .forEach(all::add);
      }
    }
    return all;
  }

  // By the clock where jobs get done. Where the machine has no time for them, hitting those who are
  // behind already would make it longer, not harder.
  private Duration strike() throws IOException {
    int jobsPerBlow = size.isLong() ? JOBS_PER_BLOW_IN_LONG_RUNS : JOBS_PER_BLOW;
    if (nemesis.blows() <= producer.count() / jobsPerBlow) {
      nemesis.act();
    }
    Duration untilNext = nemesis.untilNext();
    return size.isLong() ? untilNext.dividedBy(HASTE_IN_LONG_RUNS) : untilNext;
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
    while (!producer.isDone() || !Again.until(watch::hasDrained)) {
      rounds.check();
      drained = Duration.ofNanos(System.nanoTime() - began);
      if (drained.compareTo(DRAIN_DEADLINE) > 0) {
        throw new AssertionError(
            "%d jobs are left after %s; %s%n%s"
                .formatted(watch.live(), drained, directory, stall.whoWaits()));
      }
      TimeUnit.MILLISECONDS.sleep(POLL.toMillis());
    }
  }

  List<Violation> violations() throws IOException {
    return files.violations();
  }

  long doomed() throws IOException {
    return files.doomed();
  }

  long excused() throws IOException {
    return files.excused();
  }

  Figures figures() throws IOException {
    return files.figures();
  }

  int jobs() {
    return producer.count();
  }

  int repeated() {
    return producer.repeated();
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

  @Override
  public void close() throws IOException {
    rounds.stop();
    stall.close();
    fleet.close();
    ledger.close();
    ledgerProcess.process().destroyForcibly();
    cables.close();
    applications.close();
    pool.close();
  }
}
