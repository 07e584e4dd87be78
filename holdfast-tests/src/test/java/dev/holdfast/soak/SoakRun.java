package dev.holdfast.soak;

import com.zaxxer.hikari.HikariDataSource;
import dev.holdfast.Holdfast;
import dev.holdfast.api.HoldfastClient;
import dev.holdfast.api.Json;
import dev.holdfast.chaos.fleet.Jvm;
import dev.holdfast.fleet.IdleWorker;
import dev.holdfast.invariant.Overlooked;
import dev.holdfast.invariant.Violation;
import dev.holdfast.rig.RunDatabase;
import dev.holdfast.soak.Gauges.Lasting;
import dev.holdfast.tenant.TenantName;
import dev.holdfast.testkit.TestPodman;
import dev.holdfast.testkit.Tools;
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
 * On a database of its own: a server, workers and an agent that last and are measured, a second
 * server that is ended again and again, by force and in good order, and everything that can be done
 * with them at the same time. What is over is kept for a minute, so that an hour is long.
 */
final class SoakRun implements AutoCloseable {

  static final String PLAYBOOK = "tidy.yml";

  private static final int SERVER_MEGABYTES = 256;
  private static final int OTHERS_MEGABYTES = 128;
  private static final List<String> KEPT = List.of("SUCCEEDED", "FAILED", "LOGS", "SLOTS");
  private static final int KEPT_SECONDS = 60;
  private static final int LEAST_LOOKS = 12; // fewer tell nothing, as on a machine that is busy

  /** A process, and where it can be reached. */
  private record Node(String name, Jvm jvm, Path directory) {

    int port() {
      return said(0);
    }

    Lasting lasting() {
      return new Lasting(name, jvm.process(), said(1), directory);
    }

    private int said(int place) {
      String line = jvm.firstLine().orTimeout(2, TimeUnit.MINUTES).join();
      return Integer.parseInt(line.split(" ", -1)[place]);
    }

    String address() {
      return "http://127.0.0.1:" + port();
    }

    HoldfastClient client() {
      return HoldfastClient.at(address()).withTimeout(Duration.ofSeconds(5));
    }
  }

  private final Path directory;
  private final String jdbcUrl;
  private final HikariDataSource pool;
  private final Holdfast holdfast;
  private final Node server;
  private final List<Node> lasting;
  private final Gauges gauges;
  private final Tally tally = new Tally();
  private final Sink sink;
  private final List<Violation> broken = new ArrayList<>();
  private Node other;
  private volatile HoldfastClient toOther;
  private int restarts;
  private Duration played = Duration.ZERO;

  SoakRun(Path directory) throws SQLException, IOException {
    this.directory = directory;
    this.jdbcUrl = RunDatabase.create().jdbcUrl();
    this.pool = Standing.pool(jdbcUrl, 2);
    this.holdfast = Holdfast.on(pool).migrate();
    this.sink = new Sink(tally);
    this.server = start("server", SoakNode.class, SERVER_MEGABYTES, jdbcUrl);
    this.other = start("other-0", SoakNode.class, SERVER_MEGABYTES, jdbcUrl);
    this.lasting =
        List.of(
            server,
            start("workers", SoakWorkers.class, OTHERS_MEGABYTES, jdbcUrl, server.address()),
            start(
                "agent",
                SoakAgent.class,
                OTHERS_MEGABYTES,
                server.address(),
                TestPodman.shared().socket().toString(),
                playbooks().toString()));
    this.toOther = other.client();
    this.gauges = new Gauges(lasting.stream().map(Node::lasting).toList(), pool);
  }

  private Path playbooks() throws IOException {
    Tools.require("ansible-playbook");
    Path playbooks = Files.createDirectories(directory.resolve("playbooks"));
    Files.writeString(
        playbooks.resolve(PLAYBOOK),
        """
        - hosts: all
          gather_facts: false
          tasks:
            - command: "true"
        """);
    return playbooks;
  }

  // Each is told first whom to talk to, and then where its directory is.
  private Node start(String name, Class<?> main, int megabytes, String... peers)
      throws IOException {
    Path data = Files.createDirectories(directory.resolve(name));
    List<String> args = new ArrayList<>(List.of(peers));
    args.add(data.toString());
    Jvm jvm =
        Jvm.Launch.WHOLE.start(
            main, megabytes, directory.resolve(name + ".log"), args.toArray(String[]::new));
    return new Node(name, jvm, data);
  }

  /** For so long, and until it is enough and the other one was ended both by force and in order. */
  void play(Duration length, Duration between, Duration restartEvery) throws Exception {
    HoldfastClient client = server.client();
    for (String kept : KEPT) {
      client.ask(
          "PUT",
          "/settings/RETENTION_%s_SECONDS".formatted(kept),
          Map.of(),
          Optional.of(Json.object().put("value", KEPT_SECONDS)));
    }
    Ends ends = new Ends(pool, tally);
    Overlooked overlooked = holdfast.overlooked(TenantName.DEFAULT);
    try (Traffic traffic = new Traffic(client, () -> toOther, sink, tally)) {
      traffic.start(new Visits(server.address()));
      long began = System.nanoTime();
      long restarted = began;
      while (System.nanoTime() - began < length.toNanos()
          || restarts < 2
          || readings().looks() < LEAST_LOOKS) {
        TimeUnit.NANOSECONDS.sleep(between.toNanos());
        gauges.sample();
        ends.look();
        broken.addAll(holdfast.invariants().check());
        broken.addAll(overlooked.look());
        if (holdfast.workers().idle(TenantName.DEFAULT).stream().anyMatch(SoakRun::isIdleForLong)) {
          tally.count(Feature.LOOKS_AT_SOMEBODY_IDLE);
        }
        if (System.nanoTime() - restarted > restartEvery.toNanos()) {
          restart();
          restarted = System.nanoTime();
        }
      }
      played = Duration.ofNanos(System.nanoTime() - began);
    }
  }

  private static boolean isIdleForLong(IdleWorker worker) {
    Duration idle = Duration.between(worker.since(), worker.until());
    return idle.compareTo(worker.pollInterval().plusSeconds(2)) > 0;
  }

  private void restart() throws Exception {
    restarts++;
    Process process = other.jvm.process();
    if (restarts % 2 == 0) {
      process.destroyForcibly();
    } else {
      process.toHandle().destroy();
    }
    if (!process.waitFor(1, TimeUnit.MINUTES)) {
      throw new AssertionError(other.name + " was told to end and does not within a minute");
    }
    toOther.close();
    other = start("other-" + restarts, SoakNode.class, SERVER_MEGABYTES, jdbcUrl);
    toOther = other.client();
    tally.count(Feature.RESTARTS);
  }

  Readings readings() {
    return gauges.readings();
  }

  /** What must have been measured for most of the run: all gauges of each process that lasts. */
  List<Readings.Key> gauged() {
    return gauges.ofProcesses();
  }

  Tally tally() {
    return tally;
  }

  /** How long everything was done. */
  double minutes() {
    return played.toMillis() / 60_000.0;
  }

  /** Invariants that did not hold, at any of the looks taken. */
  List<Violation> broken() {
    return broken;
  }

  /** PostgreSQL's own count, which nothing resets here: this database does not crash. */
  long deadlocks() {
    return holdfast.invariants().deadlocks();
  }

  boolean lasts() {
    return lasting.stream().allMatch(node -> node.jvm.process().isAlive());
  }

  @Override
  public void close() {
    other.jvm.process().destroyForcibly();
    lasting.forEach(node -> node.jvm.process().destroyForcibly());
    sink.close();
    pool.close();
  }
}
