package dev.holdfast.chaos.verdict;

import dev.holdfast.chaos.ledger.Entry;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.stream.Stream;

/**
 * When who was hit, and for how long: each process for itself, and all that share a link or a
 * server. Names begin with a letter that says what a process is.
 *
 * <p>Only chores are made to fail, so that all leases here are of the same length: those of
 * commands are longer.
 */
final class Mishaps {

  /**
   * One blow.
   *
   * @param what the process that was hit, or else the name of the blow
   * @param berth that process's, or the server's that the link leads to; empty if nobody told
   */
  private record Mishap(String what, String berth, long fromMillis, long untilMillis) {

    boolean touches(long firstMillis, long lastMillis) {
      return fromMillis <= lastMillis && untilMillis >= firstMillis;
    }
  }

  private static final long NOT_OVER = Long.MAX_VALUE;
  // From a renewal to where the worker stops its handler, who may still wait for an answer then.
  private static final long UNTIL_STOPPED =
      Documented.LEASE.plus(Documented.LONGEST_ANSWER).toMillis();
  // What is granted later than that had been asked for after the mishap; and what is told of
  // somebody may be heard that much later than what came of it.
  private static final long UNDER_WAY = Documented.LONGEST_ANSWER.toMillis();
  // A worker begins nothing whose lease may be over.
  private static final long UNTIL_BEGUN = Documented.LEASE.toMillis();

  // From the last word of an attempt to the next, whoever is told what meanwhile; and twice that on
  // a machine with more processes than cores.
  private static final long LONGEST_SILENCE =
      Documented.LONGEST_CHORE
          .plus(Documented.LEASE)
          .plus(Documented.KILL_GRACE)
          .multipliedBy(2)
          .toMillis();

  private final List<Mishap> over = new ArrayList<>();
  private final Map<String, Mishap> goingOn = new HashMap<>(); // by what
  private final Map<String, String> serverOf = new HashMap<>(); // by berth
  private final Set<String> closing = new HashSet<>();

  void see(Entry entry) {
    switch (entry.verb()) {
      case "serves" -> serverOf.put(entry.words().get(1), entry.words().getFirst());
      case "hits", "frozen" -> beginFor(entry.words().getFirst(), entry.millis());
      case "held" -> goingOn.put(entry.words().getFirst(), ofLink(entry, NOT_OVER));
      case "thawed", "released" -> end(entry.words().getFirst(), entry.millis());
      case "cut", "lost" -> over.add(ofLink(entry, entry.millis()));
      case "bye" -> closing.add(entry.who());
      case "gone" -> gone(entry);
      default -> {}
    }
  }

  // Who ends in good order is no mishap, but for a server: others need it.
  private void gone(Entry entry) {
    String process = entry.who();
    if (closing.remove(process) && !isServer(process)) {
      goingOn.remove(process);
      return;
    }
    if (!goingOn.containsKey(process)) {
      beginFor(process, entry.millis()); // nobody told that it would be hit
    }
    end(process, entry.millis());
  }

  private void beginFor(String process, long millis) {
    goingOn.put(process, new Mishap(process, berth(process), millis, NOT_OVER));
  }

  private static Mishap ofLink(Entry entry, long untilMillis) {
    List<String> words = entry.words();
    String server = words.size() > 1 ? words.get(1) : "";
    return new Mishap(words.getFirst(), server, entry.millis(), untilMillis);
  }

  private void end(String what, long millis) {
    Mishap mishap = goingOn.remove(what);
    if (mishap != null) {
      over.add(new Mishap(what, mishap.berth, mishap.fromMillis, millis));
    }
  }

  private Stream<Mishap> all() {
    return Stream.concat(over.stream(), goingOn.values().stream());
  }

  /** Whether the process itself was killed or frozen before it must have been heard again. */
  boolean canHaveSilenced(String process, long lastHeardMillis) {
    return all()
        .anyMatch(each ->
            each.what.equals(process)
                && each.touches(lastHeardMillis, lastHeardMillis + LONGEST_SILENCE));
  }

  /** Whether an attempt of the worker that was stopped at that time can have been by a mishap. */
  boolean canHaveStopped(String worker, long millis) {
    String process = process(worker);
    return all()
        .filter(each -> each.touches(millis - UNTIL_STOPPED, millis + UNDER_WAY))
        .anyMatch(each -> hits(each, process));
  }

  /** Whether what the worker was granted at that time can have been lost before it began. */
  boolean canHaveLost(String worker, long grantedMillis) {
    String process = process(worker);
    return all()
        .filter(each -> each.touches(grantedMillis - UNDER_WAY, grantedMillis + UNTIL_BEGUN))
        .anyMatch(each -> hits(each, process) || losesClaim(each, process));
  }

  /** Whether it is the process, or something that the process cannot do without. */
  private boolean hits(Mishap mishap, String process) {
    return switch (mishap.what) {
      case "CRASH_DATABASE" -> true;
      case "CUT_WORKERS_FROM_DATABASE", "HOLD_WORKERS_FROM_DATABASE", "LOSE_COMMIT" ->
          !isOverHttp(process);
      case "CUT_SERVERS_FROM_DATABASE", "HOLD_SERVERS_FROM_DATABASE" -> isOverHttp(process);
      case "CUT_WORKERS_FROM_SERVER", "HOLD_WORKERS_FROM_SERVER" -> asks(process, mishap.berth);
      default ->
          mishap.what.equals(process) || (isServer(mishap.what) && asks(process, mishap.berth));
    };
  }

  // Nothing else goes over the connection that ends by it.
  private boolean losesClaim(Mishap mishap, String process) {
    return switch (mishap.what) {
      case "LOSE_DATABASE_CLAIM" -> !isOverHttp(process);
      case "LOSE_CLAIM" -> process.startsWith("h") && asks(process, mishap.berth);
      case "LOSE_PULL" -> process.startsWith("p") && asks(process, mishap.berth);
      case "LOSE_NEXT_JOB" -> process.startsWith("x") && asks(process, mishap.berth);
      default -> false;
    };
  }

  /** Of runs that did not say whom a server serves, nor to which one a link led: perhaps. */
  private boolean asks(String process, String server) {
    return isOverHttp(process)
        && (server.isEmpty() || serverOf.getOrDefault(berth(process), server).equals(server));
  }

  private static boolean isOverHttp(String process) {
    return "hpax".indexOf(process.charAt(0)) >= 0;
  }

  private static boolean isServer(String process) {
    return process.startsWith("s");
  }

  // Without the number of its thread.
  private static String process(String worker) {
    return worker.split("-", 2)[0];
  }

  // Without the number of its life.
  private static String berth(String process) {
    return process.split("\\.", 2)[0];
  }
}
