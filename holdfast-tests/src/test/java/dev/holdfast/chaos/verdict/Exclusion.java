package dev.holdfast.chaos.verdict;

import dev.holdfast.chaos.ledger.Entry;
import dev.holdfast.chaos.verdict.Violation.Rule;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/**
 * One attempt at a time for each resource and each job. An attempt is over when it said so, when
 * its process is gone, or a while after its process was frozen or it was told to stop and went on:
 * what it does after that is what fences are for, and {@link Fencing} judges it. A resource is left
 * alone for the kill grace; a job, of which nobody was told to stop, for what was left of its
 * lease. A job of which somebody was told to stop may start again at once: its lease is over, or
 * was given back.
 *
 * <p>Who was frozen is excused no longer than for lease and kill grace after it woke: what it has
 * then, it holds.
 */
final class Exclusion {

  // A woken worker may start what it claimed just before it was frozen; it takes a moment to see
  // that it is too late, and seconds where many processes share few cores.
  private static final long WAKING_MILLIS = 5_000;

  private record Running(String grant, String worker, long sinceMillis) {}

  private record Freeze(long fromMillis, long thawedMillis) {
    private static final long NOT_YET = Long.MAX_VALUE;

    boolean hadBegun(Running attempt) {
      return attempt.sinceMillis - WAKING_MILLIS <= thawedMillis;
    }

    boolean excusesAt(long millis) {
      return millis - STALE <= thawedMillis;
    }
  }

  private static final long KILL_GRACE = Documented.KILL_GRACE.toMillis();
  private static final long LEFT_OF_LEASE = Documented.LEFT_OF_LEASE.toMillis();
  private static final long STALE = Documented.LEASE.plus(Documented.KILL_GRACE).toMillis();

  private final Map<String, List<Running>> byThing = new HashMap<>();
  private final Map<String, List<String>> thingsOf = new HashMap<>();
  private final Map<String, List<String>> grantsOf = new HashMap<>();
  private final Map<String, Freeze> freezes = new HashMap<>();
  private final Map<String, Long> toldAt = new HashMap<>(); // by grant
  private final List<Violation> violations = new ArrayList<>();

  void see(Entry entry) {
    switch (entry.verb()) {
      case "start" -> {
        if (entry.accepted()) {
          start(entry);
        }
      }
      case "told" -> toldAt.put(entry.grant(), entry.millis());
      case "end" -> over(entry.grant()); // refused or not, the attempt says that it has ended
      case "gone" ->
          Optional.ofNullable(grantsOf.remove(entry.who()))
              .ifPresent(grants -> grants.forEach(this::over));
      case "frozen" ->
          freezes.put(entry.words().getFirst(), new Freeze(entry.millis(), Freeze.NOT_YET));
      case "thawed" ->
          freezes.computeIfPresent(
              entry.words().getFirst(),
              (worker, freeze) -> new Freeze(freeze.fromMillis, entry.millis()));
      default -> {}
    }
  }

  List<Violation> violations() {
    return violations;
  }

  private void start(Entry entry) {
    Running running = new Running(entry.grant(), entry.who(), entry.millis());
    List<String> things = new ArrayList<>(entry.resources());
    things.add(entry.job());
    for (String thing : things) {
      List<Running> others = byThing.computeIfAbsent(thing, unseen -> new ArrayList<>());
      // Only resources wait for the kill grace; a job that needs none is tried again at once.
      long grace = thing.equals(entry.job()) ? 0 : KILL_GRACE;
      for (Running other : others) {
        if (!isSilent(other, entry.millis(), grace) && !isStubborn(other, entry.millis(), grace)) {
          violations.add(
              new Violation(
                  Rule.OVERLAP,
                  "%s: line %d starts %s while %s of %s, begun at %d ms, goes on"
                      .formatted(
                          thing,
                          entry.order(),
                          running.grant,
                          other.grant,
                          other.worker,
                          other.sinceMillis)));
        }
      }
      others.clear(); // each is judged once, against who came next
      others.add(running);
    }
    thingsOf.put(running.grant, things);
    grantsOf.computeIfAbsent(entry.who(), unseen -> new ArrayList<>()).add(running.grant);
  }

  private boolean isSilent(Running running, long nowMillis, long graceMillis) {
    Freeze freeze = freezes.get(running.worker);
    return freeze != null
        && freeze.hadBegun(running)
        && freeze.excusesAt(nowMillis)
        && nowMillis >= freeze.fromMillis + Math.max(graceMillis, LEFT_OF_LEASE);
  }

  private boolean isStubborn(Running running, long nowMillis, long graceMillis) {
    Long told = toldAt.get(running.grant);
    return told != null && nowMillis >= told + graceMillis;
  }

  private void over(String grant) {
    toldAt.remove(grant);
    List<String> things = thingsOf.remove(grant);
    if (things == null) {
      return;
    }
    for (String thing : things) {
      List<Running> running = byThing.getOrDefault(thing, new ArrayList<>());
      running.removeIf(each -> each.grant.equals(grant));
      if (running.isEmpty()) {
        byThing.remove(thing);
      }
    }
  }
}
