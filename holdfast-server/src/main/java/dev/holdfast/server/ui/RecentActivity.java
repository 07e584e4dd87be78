package dev.holdfast.server.ui;

import dev.holdfast.overview.Counters;
import dev.holdfast.overview.Overview.Waits;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.List;
import java.util.Optional;

/**
 * The recent activity of a tenant, from samples that this node took. New samples replace the
 * oldest. Thread-safe: every method takes its own lock.
 */
final class RecentActivity {

  private static final int MOST = 360;

  /** Rates per second between two samples. */
  record Beat(
      Instant at,
      double enqueued,
      double claims,
      double finished,
      double failed,
      Optional<Waits> waits) {}

  private final Deque<Beat> beats = new ArrayDeque<>();
  private Optional<Counters> last = Optional.empty();

  synchronized Optional<Instant> lastAt() {
    return last.map(Counters::at);
  }

  /** Adds a sample; the first one has nothing to be compared with. */
  synchronized void add(Counters now, Optional<Waits> waits) {
    Optional<Counters> before = last;
    last = Optional.of(now);
    before.ifPresent(then -> {
      double seconds = Duration.between(then.at(), now.at()).toMillis() / 1000.0;
      if (seconds <= 0) {
        return; // the clock was set back
      }
      beats.addLast(
          new Beat(
              now.at(),
              rate(then.enqueued(), now.enqueued(), seconds),
              rate(then.claims(), now.claims(), seconds),
              rate(then.finished(), now.finished(), seconds),
              now.failed() / seconds,
              waits));
      if (beats.size() > MOST) {
        beats.removeFirst();
      }
    });
  }

  // A count that decreased was reset with PostgreSQL's statistics.
  private static double rate(long before, long after, double seconds) {
    return Math.max(0, after - before) / seconds;
  }

  synchronized List<Beat> beats(int most) {
    List<Beat> all = new ArrayList<>(beats);
    return all.subList(Math.max(0, all.size() - most), all.size());
  }
}
