package dev.holdfast.chaos;

import dev.holdfast.chaos.Fleet.Member;
import java.io.IOException;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.random.RandomGenerator;

/** Kills, freezes and terminates worker processes, by the dice. For one thread. */
final class Nemesis {

  // One in three freezes is long enough to lose the lease and too short for resources to pass on.
  private static final Duration PAST_LEASE = Workload.LEASE.plusMillis(1_500);
  private static final Duration PAST_KILL_GRACE = Workload.LEASE.plusSeconds(8);

  private final Fleet fleet;
  private final LedgerClient ledger;
  private final RandomGenerator dice;
  private int kills;
  private int terminations;
  private int freezes;
  private CompletableFuture<?> frozen = CompletableFuture.completedFuture(null);

  Nemesis(Fleet fleet, LedgerClient ledger, RandomGenerator dice) {
    this.fleet = fleet;
    this.ledger = ledger;
    this.dice = dice;
  }

  /** Does one thing to one of those at work, if somebody is left who can take over. */
  void act() throws IOException {
    List<Member> ready = fleet.ready();
    if (ready.size() < 2) {
      return;
    }
    Member victim = ready.get(dice.nextInt(ready.size()));
    int choice = dice.nextInt(100);
    if (choice < 35 && frozen.isDone()) {
      freeze(victim, dice.nextInt(3) == 0 ? PAST_LEASE : PAST_KILL_GRACE);
    } else if (choice < 88) {
      kills += fleet.kill(victim) ? 1 : 0;
    } else {
      terminations += fleet.terminate(victim) ? 1 : 0;
    }
  }

  private void freeze(Member victim, Duration length) throws IOException {
    if (!fleet.freezes(victim)) {
      return;
    }
    Freeze freeze = Freeze.of(victim.process(), length);
    ledger.says("frozen " + victim.name());
    freezes++;
    frozen =
        freeze
            .over()
            .thenRun(() -> {
              ledger.says("thawed " + victim.name());
              fleet.thaws(victim);
            });
  }

  /** Waits until nobody is frozen any more. */
  void rest() {
    frozen.join();
  }

  int kills() {
    return kills;
  }

  int terminations() {
    return terminations;
  }

  int freezes() {
    return freezes;
  }
}
