package dev.holdfast.chaos.verdict;

import dev.holdfast.chaos.ledger.Entry;
import java.time.Duration;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.stream.Stream;

/** How much really happened, by the ledger. */
public final class Figures {

  /** What is counted. */
  public enum Figure {
    /** Starts that the ledger took. */
    ATTEMPTS("attempts"),
    RETRIES("of them not their job's first"),
    BY_DATABASE_WORKERS("by workers on the database"),
    BY_HTTP_WORKERS("by workers over HTTP"),
    BY_COMMANDS("by commands of agents"),
    BY_PULL_WORKERS("by workers that pull"),
    BY_AGENTS_OF_THE_DIALECT("by agents of the dialect"),
    WITH_SITE_AND_NODE("with a site and a node"),
    ON_TARGET("on a target"),
    /** They were running when their process was killed. */
    CUT_SHORT("attempts cut short"),
    FEW_CUT_SHORT("of them of jobs with at most three attempts"),
    COMMANDS_CUT_SHORT("commands cut short"),
    /** They ran longer than their lease and were done all the same. */
    OUTLIVED("attempts longer than their lease"),
    GIVEN_BACK("attempts given back"),
    WENT_ON("attempts that went on when they were told to stop"),
    /** Processes that ended in good order. */
    DRAINED("processes drained"),
    /** Starts and effects of those whose place was taken. */
    REFUSED_BY_LEDGER("stale writes refused by the ledger"),
    /** Ends and checkpoints of those whose lease was lost. */
    REFUSED_BY_HOLDFAST("stale writes refused by Holdfast (LEASE_LOST)"),
    PULL_REFUSED("of them told to workers that pull"),
    DIALECT_AGENTS_REFUSED("of them told to agents of the dialect");

    private final String words;

    Figure(String words) {
      this.words = words;
    }

    public String words() {
      return words;
    }
  }

  private static final int FEW_ATTEMPTS = 3;

  private final long leaseMillis;
  private final Set<String> fewAttempts = new HashSet<>();
  private final Map<Figure, Long> counts = new HashMap<>();
  private final Map<String, Entry> running = new HashMap<>(); // by grant
  private final Set<String> seen = new HashSet<>();
  private final Set<String> closing = new HashSet<>();
  private final Map<String, Long> orphanedAt = new HashMap<>(); // by job
  private long longestRecoveryMillis;
  private long longestOtherRecoveryMillis;

  private Figures(List<Acknowledged> jobs, Duration lease) {
    this.leaseMillis = lease.toMillis();
    for (Acknowledged job : jobs) {
      if (job.maxAttempts() <= FEW_ATTEMPTS) {
        fewAttempts.add(job.job());
      }
    }
  }

  public static Figures of(Stream<Entry> ledger, List<Acknowledged> jobs, Duration lease) {
    Figures figures = new Figures(jobs, lease);
    ledger.forEachOrdered(figures::see);
    return figures;
  }

  public long get(Figure figure) {
    return counts.getOrDefault(figure, 0L);
  }

  /**
   * From a process's death to the next start of a job it had, if that needs nothing and several
   * processes are there for it.
   */
  public Duration longestRecovery() {
    return Duration.ofMillis(longestRecoveryMillis);
  }

  /** The same of jobs that stand in line for what they need, or have one process for them. */
  public Duration longestOtherRecovery() {
    return Duration.ofMillis(longestOtherRecoveryMillis);
  }

  private void count(Figure figure) {
    counts.merge(figure, 1L, Long::sum);
  }

  private void see(Entry entry) {
    switch (entry.verb()) {
      case "start" -> start(entry);
      case "effect" -> {
        if (!entry.accepted()) {
          count(Figure.REFUSED_BY_LEDGER);
        }
      }
      case "told" -> count(Figure.WENT_ON);
      case "end" -> end(entry);
      case "holdfast-refused" -> {
        count(Figure.REFUSED_BY_HOLDFAST);
        if (entry.who().startsWith("p")) {
          count(Figure.PULL_REFUSED);
        } else if (entry.who().startsWith("x")) {
          count(Figure.DIALECT_AGENTS_REFUSED);
        }
      }
      case "bye" -> {
        if (!isCommand(entry)) {
          count(Figure.DRAINED);
        }
        closing.add(entry.who());
      }
      case "gone" -> gone(entry);
      default -> {}
    }
  }

  private static boolean isCommand(Entry entry) {
    return entry.who().startsWith("c");
  }

  private void start(Entry entry) {
    if (!entry.accepted()) {
      count(Figure.REFUSED_BY_LEDGER);
      return;
    }
    count(Figure.ATTEMPTS);
    count(
        switch (entry.who().charAt(0)) {
          case 'h' -> Figure.BY_HTTP_WORKERS;
          case 'p' -> Figure.BY_PULL_WORKERS;
          case 'c' -> Figure.BY_COMMANDS;
          case 'x' -> Figure.BY_AGENTS_OF_THE_DIALECT;
          default -> Figure.BY_DATABASE_WORKERS;
        });
    if (!seen.add(entry.job())) {
      count(Figure.RETRIES);
    }
    if (entry.resources().size() > 1) {
      count(Figure.WITH_SITE_AND_NODE);
    }
    if (entry.resources().stream().anyMatch(name -> name.startsWith("target:"))) {
      count(Figure.ON_TARGET);
    }
    running.put(entry.grant(), entry);
    Long orphaned = orphanedAt.remove(entry.job());
    if (orphaned != null) {
      recovered(entry, entry.millis() - orphaned);
    }
  }

  private void recovered(Entry start, long millis) {
    boolean servedByMany = start.who().startsWith("d") || start.who().startsWith("h");
    if (servedByMany && start.resources().isEmpty()) {
      longestRecoveryMillis = Math.max(longestRecoveryMillis, millis);
    } else {
      longestOtherRecoveryMillis = Math.max(longestOtherRecoveryMillis, millis);
    }
  }

  private void end(Entry entry) {
    if (!entry.accepted()) {
      count(Figure.REFUSED_BY_LEDGER);
    }
    Entry start = running.remove(entry.grant());
    if (entry.how().equals("stopped")) {
      count(Figure.GIVEN_BACK);
    }
    if (start != null
        && entry.how().equals("done")
        && entry.millis() - start.millis() > leaseMillis
        && entry.accepted()) {
      count(Figure.OUTLIVED);
    }
  }

  private void gone(Entry entry) {
    boolean crashed = !closing.remove(entry.who());
    running
        .values()
        .removeIf(start -> {
          boolean was = start.who().equals(entry.who());
          if (was && crashed) {
            count(isCommand(entry) ? Figure.COMMANDS_CUT_SHORT : Figure.CUT_SHORT);
            if (fewAttempts.contains(start.job())) {
              count(Figure.FEW_CUT_SHORT);
            }
            orphanedAt.put(start.job(), entry.millis());
          }
          return was;
        });
  }
}
