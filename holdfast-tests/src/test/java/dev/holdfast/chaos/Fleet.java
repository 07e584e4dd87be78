package dev.holdfast.chaos;

import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;

/**
 * The worker processes: always as many as were asked for, whatever happens to them. One that ends
 * is replaced by a new one, with a new name. Thread-safe.
 */
final class Fleet implements AutoCloseable {

  private static final int HEAP_MEGABYTES = 64;
  private static final Duration PATIENCE = Duration.ofSeconds(60);

  enum Phase {
    STARTING,
    READY,
    FROZEN,
    /** Was told to end. */
    LEAVING
  }

  /** One process. Its phase is guarded by the fleet. */
  static final class Member {
    private final String name;
    private final Jvm jvm;
    private Phase phase = Phase.STARTING;

    private Member(String name, Jvm jvm) {
      this.name = name;
      this.jvm = jvm;
    }

    String name() {
      return name;
    }

    Process process() {
      return jvm.process();
    }
  }

  private final String jdbcUrl;
  private final int ledgerPort;
  private final Path directory;
  private final List<Member> members = new ArrayList<>();
  private final List<String> surprises = new ArrayList<>();
  private final Thread lastResort = new Thread(this::killAll);
  private int started;
  private boolean closing;

  Fleet(String jdbcUrl, int ledgerPort, Path directory) {
    this.jdbcUrl = jdbcUrl;
    this.ledgerPort = ledgerPort;
    this.directory = directory;
    Runtime.getRuntime().addShutdownHook(lastResort);
  }

  /** Starts so many and waits until they are ready. */
  void start(int size) {
    List<Member> first = new ArrayList<>();
    for (int i = 0; i < size; i++) {
      first.add(startOne());
    }
    first.forEach(member -> member.jvm.firstLine().join());
  }

  private synchronized Member startOne() {
    String name = "w" + ++started;
    Path log = directory.resolve(name + ".log");
    Jvm jvm =
        Jvm.start(
            ChaosWorker.class,
            Jvm.wholeClasspath(),
            HEAP_MEGABYTES,
            log,
            jdbcUrl,
            String.valueOf(ledgerPort),
            name);
    Member member = new Member(name, jvm);
    members.add(member);
    var unusedReady = jvm.firstLine().thenRun(() -> move(member, Phase.STARTING, Phase.READY));
    var unusedEnd = jvm.process().onExit().thenRun(() -> ended(member));
    return member;
  }

  private synchronized void ended(Member member) {
    members.remove(member);
    if (member.phase != Phase.LEAVING) {
      surprises.add(member.name + " ended by itself with " + member.process().exitValue());
    }
    if (!closing) {
      startOne();
    }
  }

  private synchronized boolean move(Member member, Phase from, Phase to) {
    boolean moves = member.phase == from;
    member.phase = moves ? to : member.phase;
    return moves;
  }

  /** Those at work, to choose a victim from. */
  synchronized List<Member> ready() {
    return members.stream().filter(member -> member.phase == Phase.READY).toList();
  }

  /** SIGKILL; false when it was ending already. */
  boolean kill(Member member) {
    boolean hit = move(member, Phase.READY, Phase.LEAVING);
    if (hit) {
      member.process().destroyForcibly();
    }
    return hit;
  }

  /** SIGTERM: it drains, and must have ended in reasonable time. */
  boolean terminate(Member member) {
    boolean hit = move(member, Phase.READY, Phase.LEAVING);
    if (hit) {
      askToEnd(member);
      var unusedLate =
          member
              .process()
              .onExit()
              .orTimeout(PATIENCE.toSeconds(), TimeUnit.SECONDS)
              .exceptionally(timeout -> {
                surprise(member.name + " was terminated and does not end");
                return member.process().destroyForcibly();
              });
    }
    return hit;
  }

  // By its handle: Process.destroy closes the child's standard input, too, and it would not drain.
  private static void askToEnd(Member member) {
    member.process().toHandle().destroy();
  }

  boolean freezes(Member member) {
    return move(member, Phase.READY, Phase.FROZEN);
  }

  void thaws(Member member) {
    boolean unused = move(member, Phase.FROZEN, Phase.READY);
  }

  private synchronized void surprise(String what) {
    surprises.add(what);
  }

  /** What happened that the nemesis did not do. */
  synchronized List<String> surprises() {
    return List.copyOf(surprises);
  }

  /** Terminates all and waits until they have drained. */
  void drain() throws InterruptedException {
    List<Member> last;
    synchronized (this) {
      closing = true;
      last = List.copyOf(members);
    }
    for (Member member : last) {
      synchronized (this) {
        member.phase = Phase.LEAVING;
      }
      askToEnd(member);
    }
    for (Member member : last) {
      if (!member.process().waitFor(PATIENCE.toSeconds(), TimeUnit.SECONDS)) {
        surprise(member.name + " was terminated at last and does not end");
      }
    }
  }

  // A frozen process dies of this, too.
  private synchronized void killAll() {
    closing = true;
    members.forEach(member -> {
      member.phase = Phase.LEAVING;
      member.process().destroyForcibly();
    });
  }

  @Override
  public void close() {
    killAll();
    Runtime.getRuntime().removeShutdownHook(lastResort);
  }
}
