package dev.holdfast.chaos;

import java.time.Duration;
import java.util.HashMap;
import java.util.HashSet;
import java.util.Map;
import java.util.Set;
import java.util.stream.Stream;

/**
 * How much really happened, by the ledger.
 *
 * @param attempts starts that the ledger took
 * @param retries those of them that were not their job's first
 * @param cutShort attempts that were running when their process was killed
 * @param outlived attempts that ran longer than their lease and were done all the same
 * @param givenBack attempts that were stopped and said so
 * @param drained processes that ended in good order
 * @param refusedByLedger starts and effects of those whose place was taken
 * @param refusedByHoldfast ends and checkpoints of those whose lease was lost
 * @param longestRecovery from a process's death to the next start of a job it had
 */
record Figures(
    int attempts,
    int retries,
    int cutShort,
    int outlived,
    int givenBack,
    int drained,
    int refusedByLedger,
    int refusedByHoldfast,
    Duration longestRecovery) {

  static Figures of(Stream<Entry> ledger, Duration lease) {
    return new Count(lease).of(ledger);
  }

  private static final class Count {
    private final long leaseMillis;
    private final Map<String, Entry> running = new HashMap<>(); // by grant
    private final Set<String> seen = new HashSet<>();
    private final Set<String> closing = new HashSet<>();
    private final Map<String, Long> orphanedAt = new HashMap<>(); // by job
    private int attempts;
    private int retries;
    private int cutShort;
    private int outlived;
    private int givenBack;
    private int drained;
    private int refusedByLedger;
    private int refusedByHoldfast;
    private long longestRecoveryMillis;

    private Count(Duration lease) {
      this.leaseMillis = lease.toMillis();
    }

    private Figures of(Stream<Entry> ledger) {
      ledger.forEachOrdered(this::see);
      return new Figures(
          attempts,
          retries,
          cutShort,
          outlived,
          givenBack,
          drained,
          refusedByLedger,
          refusedByHoldfast,
          Duration.ofMillis(longestRecoveryMillis));
    }

    private void see(Entry entry) {
      switch (entry.verb()) {
        case "start" -> start(entry);
        case "effect" -> refusedByLedger += entry.accepted() ? 0 : 1;
        case "end" -> end(entry);
        case "holdfast-refused" -> refusedByHoldfast++;
        case "bye" -> {
          drained++;
          closing.add(entry.who());
        }
        case "gone" -> gone(entry);
        default -> {}
      }
    }

    private void start(Entry entry) {
      if (!entry.accepted()) {
        refusedByLedger++;
        return;
      }
      attempts++;
      retries += seen.add(entry.job()) ? 0 : 1;
      running.put(entry.grant(), entry);
      Long orphaned = orphanedAt.remove(entry.job());
      if (orphaned != null) {
        longestRecoveryMillis = Math.max(longestRecoveryMillis, entry.millis() - orphaned);
      }
    }

    private void end(Entry entry) {
      Entry start = running.remove(entry.grant());
      givenBack += entry.how().equals("stopped") ? 1 : 0;
      if (start != null
          && entry.how().equals("done")
          && entry.millis() - start.millis() > leaseMillis
          && entry.accepted()) {
        outlived++;
      }
    }

    private void gone(Entry entry) {
      boolean crashed = !closing.remove(entry.who());
      running
          .values()
          .removeIf(start -> {
            boolean was = start.who().equals(entry.who());
            if (was && crashed) {
              cutShort++;
              orphanedAt.put(start.job(), entry.millis());
            }
            return was;
          });
    }
  }
}
