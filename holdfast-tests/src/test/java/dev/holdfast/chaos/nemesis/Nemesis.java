package dev.holdfast.chaos.nemesis;

import dev.holdfast.chaos.fleet.AgentNode;
import dev.holdfast.chaos.fleet.Fleet;
import dev.holdfast.chaos.fleet.Fleet.Member;
import dev.holdfast.chaos.fleet.Freeze;
import dev.holdfast.chaos.ledger.LedgerClient;
import dev.holdfast.chaos.load.Workload;
import dev.holdfast.rig.Cable;
import java.io.IOException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.TimeUnit;
import java.util.function.Predicate;
import java.util.random.RandomGenerator;
import java.util.stream.Stream;

/**
 * Kills, freezes and terminates processes, cuts their connections and loses what they are answered,
 * by the dice and so many times a minute. For one thread; others may read its counts.
 */
public final class Nemesis {

  // Half of the freezes are long enough to lose the lease and too short for resources to pass on:
  // who wakes finds the next attempt at work.
  private static final int PAST_LEASE_MILLIS = 1_500;
  private static final int UNTIL_KILL_GRACE_MILLIS = 3_500;
  private static final int PAST_KILL_GRACE_MILLIS = 8_000;
  private static final int MOST_FROZEN = 2;
  private static final int FEWEST_READY = 4; // of workers and agents
  private static final double MOST_A_MINUTE = 45; // also when only some of them are dealt

  private final Fleet fleet;
  private final Cables cables;
  private final LedgerClient ledger;
  private final Runnable crashDatabase;
  private final RandomGenerator dice;
  private final Map<Blow, Double> perMinute = new EnumMap<>(Blow.class);
  private final Map<Blow, Integer> tried = new EnumMap<>(Blow.class);
  private final Map<Blow, Integer> dealt = new ConcurrentHashMap<>();
  private final List<CompletableFuture<?>> frozen = new ArrayList<>();
  private final List<CompletableFuture<?>> frozenServers = new ArrayList<>();
  private final List<CompletableFuture<?>> held = new ArrayList<>();

  /** What there is to be hit. */
  public record Victims(Fleet fleet, Cables cables, Runnable crashDatabase) {}

  /**
   * Deals some blows.
   *
   * @param blows all that it deals
   */
  public Nemesis(Victims victims, LedgerClient ledger, Set<Blow> blows, RandomGenerator dice) {
    this.fleet = victims.fleet;
    this.cables = victims.cables;
    this.crashDatabase = victims.crashDatabase;
    this.ledger = ledger;
    this.dice = dice;
    blows.forEach(blow -> perMinute.put(blow, blow.perMinute()));
  }

  /** How long it is until the next blow: now and then several at once, now and then none. */
  public Duration untilNext() {
    double minutes = -Math.log(1 - dice.nextDouble()) / Math.max(all(), MOST_A_MINUTE);
    return Duration.ofMillis((long) (minutes * 60_000));
  }

  private double all() {
    return perMinute.values().stream().mapToDouble(Double::doubleValue).sum();
  }

  /** Does one thing, if somebody is left who can take over. */
  public void act() throws IOException {
    if (fleet.ready(member -> !member.isServer()).size() < FEWEST_READY) {
      return;
    }
    Blow blow = choose();
    if (deal(blow)) {
      dealt.merge(blow, 1, Integer::sum);
    }
  }

  // Whichever is most overdue, and among those about equal any: so that also a short run comes to
  // what is rare.
  private Blow choose() {
    int chosen = blows() + 1;
    Blow mostOverdue = perMinute.keySet().iterator().next();
    double most = Double.NEGATIVE_INFINITY;
    for (Map.Entry<Blow, Double> each : perMinute.entrySet()) {
      double due = chosen * each.getValue() / all() - tried.getOrDefault(each.getKey(), 0);
      double overdue = due + dice.nextDouble();
      if (overdue > most) {
        most = overdue;
        mostOverdue = each.getKey();
      }
    }
    tried.merge(mostOverdue, 1, Integer::sum);
    return mostOverdue;
  }

  private boolean deal(Blow blow) throws IOException {
    return switch (blow) {
      case KILL -> hit(blow, member -> !member.isServer(), fleet::kill);
      case TERMINATE -> hit(blow, member -> !member.isServer(), fleet::terminate);
      case KILL_SERVER -> hit(blow, Member::isServer, fleet::kill);
      case TERMINATE_SERVER -> hit(blow, Member::isServer, fleet::terminate);
      case FREEZE -> freeze(member -> !member.isServer(), frozen, MOST_FROZEN);
      case FREEZE_SERVER -> freeze(Member::isServer, frozenServers, 1);
      case CUT_WORKERS_FROM_SERVER -> cut(blow, anyServer());
      case CUT_WORKERS_FROM_DATABASE -> cut(blow, cables.workersToDatabase());
      case CUT_SERVERS_FROM_DATABASE -> cut(blow, cables.serversToDatabase());
      case CUT_APPLICATIONS_FROM_DATABASE -> cut(blow, cables.applicationsToDatabase());
      case HOLD_WORKERS_FROM_SERVER -> hold(blow, anyServer());
      case HOLD_WORKERS_FROM_DATABASE -> hold(blow, cables.workersToDatabase());
      case HOLD_SERVERS_FROM_DATABASE -> hold(blow, cables.serversToDatabase());
      case LOSE_CLAIM -> lose(blow, anyServer(), "POST /api/v1/leases HTTP", "\"fence\":");
      case LOSE_PULL -> lose(blow, anyServer(), "GET /api/pull_job", "\"attempt_id\":");
      case LOSE_ENQUEUE -> lose(blow, anyServer(), "POST /api/v1/jobs/batch", "\"created\":");
      case LOSE_ENQUEUE_COMMIT -> lose(blow, cables.applicationsToDatabase(), "COMMIT", "");
      case LOSE_NEXT_JOB ->
          lose(blow, anyServer(), "POST /api/agent/next-job", "\"container_name\":");
      // The arguments of a chore: a claim that got nothing is answered, too.
      case LOSE_DATABASE_CLAIM ->
          lose(blow, cables.workersToDatabase(), "lanes AS MATERIALIZED", "\"failures\":");
      case LOSE_COMMIT -> lose(blow, cables.workersToDatabase(), "COMMIT", "");
      case CRASH_DATABASE -> {
        ledger.says("cut " + blow);
        crashDatabase.run();
        yield true;
      }
    };
  }

  private Cable anyServer() {
    return cables.toServers().get(dice.nextInt(cables.toServers().size()));
  }

  private boolean hit(Blow blow, Predicate<Member> which, Predicate<Member> how) {
    List<Member> ready = fleet.ready(which);
    if (ready.isEmpty()) {
      return false;
    }
    Member victim = ready.get(dice.nextInt(ready.size()));
    ledger.says("hits %s %s".formatted(victim.name(), blow));
    return how.test(victim);
  }

  private boolean freeze(Predicate<Member> which, List<CompletableFuture<?>> already, int most)
      throws IOException {
    already.removeIf(CompletableFuture::isDone);
    List<Member> ready = fleet.ready(which);
    if (already.size() >= most || ready.isEmpty()) {
      return false;
    }
    Member victim = ready.get(dice.nextInt(ready.size()));
    if (!fleet.freezes(victim)) {
      return false;
    }
    Freeze freeze = Freeze.of(victim.process(), longerThan(lease(victim)));
    ledger.says("frozen " + victim.name());
    already.add(
        freeze
            .over()
            .thenRun(() -> {
              ledger.says("thawed " + victim.name());
              fleet.thaws(victim);
            }));
    return true;
  }

  private static Duration lease(Member member) {
    return member.isAgent() ? AgentNode.LEASE : Workload.LEASE;
  }

  private Duration longerThan(Duration lease) {
    return lease.plusMillis(
        dice.nextBoolean()
            ? PAST_LEASE_MILLIS + dice.nextInt(UNTIL_KILL_GRACE_MILLIS)
            : PAST_KILL_GRACE_MILLIS);
  }

  // One link at a time, or there would be nobody left to take over.
  private boolean hold(Blow blow, Cable cable) {
    held.removeIf(CompletableFuture::isDone);
    if (!held.isEmpty()) {
      return false;
    }
    ledger.says("held " + at(blow, cable));
    cable.unplug();
    held.add(
        CompletableFuture.runAsync(
            () -> {
              cable.release();
              ledger.says("released " + at(blow, cable));
            },
            CompletableFuture.delayedExecutor(
                longerThan(Workload.LEASE).toMillis(), TimeUnit.MILLISECONDS)));
    return true;
  }

  // One that met no connection is told, too: somebody may have been about to connect.
  private boolean cut(Blow blow, Cable cable) {
    ledger.says("cut " + at(blow, cable));
    int before = cable.connectionsCut();
    cable.cut();
    return cable.connectionsCut() > before;
  }

  // Counts when it has happened: perhaps nobody asks for a while.
  private boolean lose(Blow blow, Cable cable, String question, String answer) {
    cable.loseNext(
        question,
        answer,
        () -> {
          var unused = ledger.tell("lost " + at(blow, cable));
          dealt.merge(blow, 1, Integer::sum);
        });
    return false;
  }

  /** With the server that the link leads to, if it is one of those. */
  private String at(Blow blow, Cable cable) {
    int server = cables.toServers().indexOf(cable);
    return server < 0 ? blow.name() : blow.name() + " s" + server;
  }

  /** Waits until nobody is frozen any more, and nothing held. */
  public void rest() {
    Stream.of(frozen, frozenServers, held).flatMap(List::stream).forEach(CompletableFuture::join);
  }

  /** All of them, those that hit nobody included. */
  public int blows() {
    return tried.values().stream().mapToInt(Integer::intValue).sum();
  }

  public int dealt(Blow blow) {
    return dealt.getOrDefault(blow, 0);
  }
}
