package dev.holdfast.chaos.fleet;

import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import java.util.function.Predicate;

/**
 * The processes: one in each berth, whatever happens to them. One that ends is replaced by a new
 * one, with a new name. Thread-safe.
 */
public final class Fleet implements AutoCloseable {

  private static final Duration PATIENCE = Duration.ofSeconds(60);

  private enum Phase {
    STARTING,
    READY,
    FROZEN,
    /** Was told to end. */
    LEAVING
  }

  /** One process. Its phase is guarded by the fleet. */
  public static final class Member {
    private final String name;
    private final Berth berth;
    private final Jvm jvm;
    private Phase phase = Phase.STARTING;

    private Member(String name, Berth berth, Jvm jvm) {
      this.name = name;
      this.berth = berth;
      this.jvm = jvm;
    }

    public String name() {
      return name;
    }

    public Process process() {
      return jvm.process();
    }

    public boolean isServer() {
      return berth.role() == Role.SERVER;
    }

    /** Whether it runs commands, whose leases are longer. */
    public boolean isAgent() {
      return berth.role() == Role.AGENT;
    }
  }

  private final Jvm.Launch launch;
  private final int ledgerPort;
  private final Path directory;
  private final List<Member> members = new ArrayList<>();
  private final Map<Berth, Integer> lives = new HashMap<>();
  private final List<String> surprises = new ArrayList<>();
  private final Thread lastResort = new Thread(this::killAll);
  private boolean closing;

  public Fleet(Jvm.Launch launch, int ledgerPort, Path directory) {
    this.launch = launch;
    this.ledgerPort = ledgerPort;
    this.directory = directory;
    Runtime.getRuntime().addShutdownHook(lastResort);
  }

  /** Starts one in each berth and waits until they are ready. */
  public void start(List<Berth> berths) {
    List<Member> first = berths.stream().map(this::start).toList();
    first.forEach(member -> member.jvm.firstLine().join());
  }

  private synchronized Member start(Berth berth) {
    String name = berth.name(lives.merge(berth, 1, Integer::sum));
    List<String> args = new ArrayList<>(List.of(name, String.valueOf(ledgerPort)));
    args.addAll(berth.args());
    Jvm jvm =
        launch.start(
            berth.role().main(),
            berth.role().heapMegabytes(),
            directory.resolve(name + ".log"),
            args.toArray(String[]::new));
    Member member = new Member(name, berth, jvm);
    members.add(member);
    var unusedReady =
        jvm.firstLine()
            .thenAccept(line -> {
              berth.ready().accept(line);
              boolean unused = move(member, Phase.STARTING, Phase.READY);
            });
    var unusedEnd = jvm.process().onExit().thenRun(() -> ended(member));
    return member;
  }

  private synchronized void ended(Member member) {
    members.remove(member);
    if (member.phase != Phase.LEAVING) {
      surprises.add(member.name + " ended by itself with " + member.process().exitValue());
    }
    if (!closing) {
      start(member.berth);
    }
  }

  private synchronized boolean move(Member member, Phase from, Phase to) {
    boolean moves = member.phase == from;
    member.phase = moves ? to : member.phase;
    return moves;
  }

  /** Those at work, to choose a victim from. */
  public synchronized List<Member> ready(Predicate<Member> which) {
    return members.stream()
        .filter(member -> member.phase == Phase.READY && which.test(member))
        .toList();
  }

  /** SIGKILL; false when it was ending already. */
  public boolean kill(Member member) {
    boolean hit = move(member, Phase.READY, Phase.LEAVING);
    if (hit) {
      member.process().destroyForcibly();
    }
    return hit;
  }

  /** SIGTERM: it drains, and must have ended in reasonable time. */
  public boolean terminate(Member member) {
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

  public boolean freezes(Member member) {
    return move(member, Phase.READY, Phase.FROZEN);
  }

  public void thaws(Member member) {
    boolean unused = move(member, Phase.FROZEN, Phase.READY);
  }

  private synchronized void surprise(String what) {
    surprises.add(what);
  }

  /** What happened that the nemesis did not do. */
  public synchronized List<String> surprises() {
    return List.copyOf(surprises);
  }

  /** Terminates all and waits until they have drained, servers last. */
  public void drain() throws InterruptedException {
    List<Member> last;
    synchronized (this) {
      closing = true;
      last = List.copyOf(members);
      last.forEach(member -> member.phase = Phase.LEAVING);
    }
    drain(last.stream().filter(member -> !member.isServer()).toList());
    drain(last.stream().filter(Member::isServer).toList());
  }

  private void drain(List<Member> some) throws InterruptedException {
    some.forEach(Fleet::askToEnd);
    for (Member member : some) {
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
