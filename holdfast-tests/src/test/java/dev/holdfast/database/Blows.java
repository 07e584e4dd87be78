package dev.holdfast.database;

import dev.holdfast.database.Witness.Attempt;
import dev.holdfast.rig.Cable;
import java.time.Duration;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import java.util.stream.Collectors;

/**
 * Sees to it that a blow meets what it is there for: handlers under way, some of them under leases
 * that an outage outlasts, and an end that was just written and of which nobody heard. Counts what
 * each blow met. For one thread that deals them; attempts come and go on any.
 */
final class Blows {

  // Of an end that is written, whoever writes it; only ends of attempts are in this load.
  private static final String AN_END = "INSERT INTO holdfast_default.job_done";
  // The server is ready for the next question, and in no transaction: what it said is committed.
  private static final String COMMITTED = "Z\0\0\0\5I";

  // One that is younger goes on, if nothing stops it, for longer than its lease can last.
  private static final Duration YOUNG = Duration.ofMillis(500);
  private static final int LEAST_UNDER_WAY = 2;
  private static final Duration PATIENCE = Duration.ofMinutes(3);
  private static final Duration PAUSE = Duration.ofMillis(1);

  private final Witness witness;
  private final Map<Attempt, Long> brief = new ConcurrentHashMap<>();
  private Map<Attempt, Long> met = Map.of();
  private int dealt;
  private int underWay;
  private int fewestUnderWay = Integer.MAX_VALUE;
  private int answersLost;
  private int outlasted;
  private int ranOut;

  Blows(Witness witness) {
    this.witness = witness;
  }

  /** The same database by way of a cable, with statements on it that can be told apart. */
  static String readable(String jdbcUrl, int port, Cable cable) {
    return jdbcUrl.replace(":" + port, ":" + cable.port()) + "&prepareThreshold=0";
  }

  void begun(Attempt attempt) {
    brief.put(attempt, System.nanoTime());
  }

  void over(Attempt attempt) {
    brief.remove(attempt);
  }

  /**
   * Returns when a blow would hit, which is to be dealt at once.
   *
   * @param cable by which some of the workers reach the database that is to be hit
   */
  void brace(Optional<Cable> cable) throws InterruptedException {
    long began = System.nanoTime();
    boolean lost = false;
    while (witness.underWay() < LEAST_UNDER_WAY || young().isEmpty() || !lost) {
      check(began, "nothing is under way that could be hit");
      if (witness.underWay() < LEAST_UNDER_WAY || young().isEmpty()) {
        LockSupport.parkNanos(PAUSE.toNanos());
        lost = false; // whoever wrote it asks again before long, and so it was for nothing
      } else {
        lost = cable.isEmpty() || losesAnEnd(cable.get());
      }
    }
    met = young();
    dealt++;
    underWay += witness.underWay();
    fewestUnderWay = Math.min(fewestUnderWay, witness.underWay());
  }

  private Map<Attempt, Long> young() {
    long since = System.nanoTime() - YOUNG.toNanos();
    return brief.entrySet().stream()
        .filter(entry -> entry.getValue() - since > 0)
        .collect(Collectors.toMap(Map.Entry::getKey, Map.Entry::getValue));
  }

  private boolean losesAnEnd(Cable cable) throws InterruptedException {
    CountDownLatch lost = new CountDownLatch(1);
    cable.loseNext(AN_END, COMMITTED, lost::countDown);
    if (!lost.await(PATIENCE.toSeconds(), TimeUnit.SECONDS)) {
      throw new AssertionError("no end is written; so far: " + witness.violations());
    }
    answersLost++;
    return true;
  }

  /**
   * Lets the outage last until the leases that were too short for it have run out, and their
   * handlers have stopped by themselves: nobody could have told them.
   */
  void outlast() {
    long began = System.nanoTime();
    while (met.keySet().stream().anyMatch(brief::containsKey)) {
      check(began, "handlers go on whose leases nobody renews: " + met.keySet());
      LockSupport.parkNanos(PAUSE.toNanos());
    }
    outlasted++;
    ranOut += (int) met.keySet().stream().filter(attempt -> !witness.hasActed(attempt)).count();
  }

  private void check(long began, String why) {
    if (System.nanoTime() - began > PATIENCE.toNanos()) {
      throw new AssertionError(why + "; so far: " + witness.violations());
    }
  }

  /** Outages that leases ran out in, one after the other. */
  int outlasted() {
    return outlasted;
  }

  int ranOut() {
    return ranOut;
  }

  int answersLost() {
    return answersLost;
  }

  int fewestUnderWay() {
    return fewestUnderWay;
  }

  @Override
  public String toString() {
    return ("%d blows met %d handlers under way (%d at least), %d ends were written and nobody"
            + " heard, %d leases ran out in %d outages, %d attempts at jobs that had been begun"
            + " before")
        .formatted(
            dealt, underWay, fewestUnderWay, answersLost, ranOut, outlasted, witness.again());
  }
}
