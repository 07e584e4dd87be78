package dev.holdfast.chaos.verdict;

import dev.holdfast.chaos.ledger.Entry;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.NavigableSet;
import java.util.Set;
import java.util.TreeSet;

/**
 * When who was hit: each process for itself, and all that shared a link or a server. Names begin
 * with a letter that says what a process is.
 */
final class Mishaps {

  private static final String DATABASE = "database";
  private static final String WORKERS_TO_DATABASE = "workers-database";
  private static final String SERVERS = "servers";
  private static final String APPLICATIONS = "applications"; // have no attempts

  private final Map<String, NavigableSet<Long>> millisOf = new HashMap<>();
  private final Set<String> closing = new HashSet<>();

  void see(Entry entry) {
    switch (entry.verb()) {
      case "frozen", "thawed" -> hit(entry.words().getFirst(), entry);
      case "cut", "lost", "held", "released" -> add(link(entry.words().getFirst()), entry);
      case "bye" -> closing.add(entry.who());
      case "gone" -> {
        if (!closing.remove(entry.who())) {
          hit(entry.who(), entry);
        } else if (isServer(entry.who())) {
          add(SERVERS, entry);
        }
      }
      default -> {}
    }
  }

  private void hit(String process, Entry entry) {
    add(isServer(process) ? SERVERS : process, entry);
  }

  private void add(String what, Entry entry) {
    millisOf.computeIfAbsent(what, unseen -> new TreeSet<>()).add(entry.millis());
  }

  private static boolean isServer(String process) {
    return process.startsWith("s");
  }

  private static String link(String blow) {
    if (blow.equals("CRASH_DATABASE")) {
      return DATABASE;
    }
    if (blow.contains("APPLICATIONS") || blow.contains("ENQUEUE")) {
      return APPLICATIONS;
    }
    boolean isOfWorkers =
        blow.endsWith("WORKERS_FROM_DATABASE")
            || blow.equals("LOSE_DATABASE_CLAIM")
            || blow.equals("LOSE_COMMIT");
    return isOfWorkers ? WORKERS_TO_DATABASE : SERVERS; // a server's link is as good as the server
  }

  /** Whether the process itself was killed or frozen, at that time or later. */
  boolean hasHitSince(String process, long millis) {
    NavigableSet<Long> hits = millisOf.get(process);
    return hits != null && hits.ceiling(millis) != null;
  }

  /** Whether the process, or what it cannot do without, was hit within reach of that time. */
  boolean canHaveHit(String worker, long millis) {
    String process = worker.split("-", 2)[0]; // without the number of its thread
    boolean overHttp = "hpax".indexOf(process.charAt(0)) >= 0;
    return List.of(process, DATABASE, overHttp ? SERVERS : WORKERS_TO_DATABASE).stream()
        .anyMatch(what -> isWithinReach(what, millis));
  }

  private boolean isWithinReach(String what, long millis) {
    long reach = Documented.REACH.toMillis();
    NavigableSet<Long> hits = millisOf.get(what);
    return hits != null && !hits.subSet(millis - reach, true, millis + reach, true).isEmpty();
  }
}
