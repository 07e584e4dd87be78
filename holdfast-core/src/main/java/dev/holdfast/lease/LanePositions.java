package dev.holdfast.lease;

import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.function.LongSupplier;

/**
 * Remembers how far into each lane claims have come. While some transaction holds an old snapshot,
 * vacuum cannot remove the index entries of jobs already taken, and every claim from the start of a
 * lane walks over all of them. Claims that start where the last one ended do not.
 *
 * <p>Only a hint: jobs can turn up behind a position (retries, delays that ran out), so claims
 * return to the start: always while that is cheap, otherwise so seldom that it costs a small share
 * of the time. Thread-safe: every method takes the monitor, none blocks in it.
 */
public final class LanePositions {

  private static final long CHEAP_NANOS = Duration.ofMillis(5).toNanos();
  private static final long LONGEST_NANOS = Duration.ofSeconds(2).toNanos();
  private static final int TIMES_THE_COST = 50;

  record Position(long lane, Instant runAt, long seq) {}

  private final LongSupplier nanoTime;
  private final Map<Long, Position> positions = new HashMap<>();
  private long startAgainAtNanos;

  public LanePositions(LongSupplier nanoTime) {
    this.nanoTime = nanoTime;
    this.startAgainAtNanos = nanoTime.getAsLong();
  }

  /** Where the next claim begins; empty for the start of every lane. */
  synchronized List<Position> next() {
    return nanoTime.getAsLong() - startAgainAtNanos >= 0
        ? List.of()
        : new ArrayList<>(positions.values());
  }

  /** Notes how a claim went that began at {@code from} and ended, per lane, at {@code reached}. */
  synchronized void note(List<Position> from, Iterable<Position> reached, long tookNanos) {
    if (from.isEmpty()) {
      positions.clear();
      long pause =
          tookNanos <= CHEAP_NANOS ? 0 : Math.min(LONGEST_NANOS, tookNanos * TIMES_THE_COST);
      startAgainAtNanos = nanoTime.getAsLong() + pause;
    }
    reached.forEach(position -> positions.put(position.lane(), position));
  }
}
