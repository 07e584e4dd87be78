package dev.holdfast.chaos;

import dev.holdfast.chaos.Fleet.Member;
import java.io.IOException;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.random.RandomGenerator;

/** Kills, freezes and terminates worker processes, by the dice, until it is called off. */
final class Nemesis {

  // One in three freezes is long enough to lose the lease and too short for resources to pass on.
  private static final Duration PAST_LEASE = Workload.LEASE.plusMillis(1_500);
  private static final Duration PAST_KILL_GRACE = Workload.LEASE.plusSeconds(8);

  private final Fleet fleet;
  private final LedgerClient ledger;
  private final RandomGenerator dice;
  private final AtomicInteger kills = new AtomicInteger();
  private final AtomicInteger terminations = new AtomicInteger();
  private final AtomicInteger freezes = new AtomicInteger();
  private final CountDownLatch calledOff = new CountDownLatch(1);
  private final CompletableFuture<Void> over = new CompletableFuture<>();
  private CompletableFuture<?> frozen = CompletableFuture.completedFuture(null);

  Nemesis(Fleet fleet, LedgerClient ledger, RandomGenerator dice) {
    this.fleet = fleet;
    this.ledger = ledger;
    this.dice = dice;
  }

  void start() {
    Thread.ofPlatform().daemon().name("nemesis").start(this::haunt);
  }

  private void haunt() {
    try {
      // The pause is the rate of its acts, not a wait for anything.
      while (!calledOff.await(dice.nextInt(900, 2_400), TimeUnit.MILLISECONDS)) {
        List<Member> ready = fleet.ready();
        if (ready.size() > 1) { // or nobody would be left who takes over
          act(ready.get(dice.nextInt(ready.size())));
        }
      }
      frozen.join();
      over.complete(null);
    } catch (InterruptedException | IOException | RuntimeException e) {
      over.completeExceptionally(e);
    }
  }

  private void act(Member victim) throws IOException {
    int choice = dice.nextInt(100);
    if (choice < 40 && frozen.isDone()) {
      freeze(victim, dice.nextInt(3) == 0 ? PAST_LEASE : PAST_KILL_GRACE);
    } else if (choice < 85) {
      fleet.kill(victim);
      kills.incrementAndGet();
    } else {
      fleet.terminate(victim);
      terminations.incrementAndGet();
    }
  }

  private void freeze(Member victim, Duration length) throws IOException {
    if (!fleet.freezes(victim)) {
      return;
    }
    Freeze freeze = Freeze.of(victim.process(), length);
    ledger.says("frozen " + victim.name());
    freezes.incrementAndGet();
    frozen =
        freeze
            .over()
            .thenRun(() -> {
              ledger.says("thawed " + victim.name());
              fleet.thaws(victim);
            });
  }

  /** Ends its work, and waits until nobody is frozen any more. */
  void callOff() {
    calledOff.countDown();
    over.join();
  }

  int kills() {
    return kills.get();
  }

  int terminations() {
    return terminations.get();
  }

  int freezes() {
    return freezes.get();
  }
}
