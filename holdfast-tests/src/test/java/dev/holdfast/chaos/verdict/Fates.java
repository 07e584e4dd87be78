package dev.holdfast.chaos.verdict;

import dev.holdfast.chaos.ledger.Entry;
import dev.holdfast.chaos.verdict.Violation.Rule;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;

/**
 * Every acknowledged job came to its end, in as many attempts as its policy and people allow. The
 * last attempt that the ledger knows of must have ended well; or, of a doomed job, have been the
 * last one allowed; or somebody resolved the job by hand.
 *
 * <p>A doomed job's last attempt may be lost by a mishap, also between its claim and its start, of
 * which the ledger hears nothing. Then the mishap must be one of the process that had it, or of
 * what that needs, and just then: the ledger says who started it, and of attempts that never
 * started Holdfast's history does.
 */
final class Fates {

  private static final class Fate {
    private int grants;
    private int givenBack;
    private int granted; // attempts that an operator added
    private boolean hadTooMany;
    private int lastAttempt;
    private long lastFence;
    private String lastEnd = "none";
    private boolean effect;
    private boolean resolved;
    private String lastWorker = "";
    private long lastHeardMillis;
  }

  private final Map<String, Acknowledged> acknowledged = new LinkedHashMap<>();
  private final Map<String, Fate> fates = new HashMap<>();
  private final Map<String, List<LostAttempt>> lost = new HashMap<>(); // by job
  private final Mishaps mishaps = new Mishaps();
  private final Set<String> told = new HashSet<>(); // grants that were told to stop and went on
  private final Set<String> givenBack = new HashSet<>(); // grants, as far as one knows
  private final List<Violation> violations = new ArrayList<>();
  private long epochMillis; // when the ledger's clock was at 0

  Fates(List<Acknowledged> acknowledged, List<LostAttempt> lost) {
    acknowledged.forEach(job -> this.acknowledged.put(job.job(), job));
    lost.forEach(
        each -> this.lost.computeIfAbsent(each.job(), unseen -> new ArrayList<>()).add(each));
  }

  void see(Entry entry) {
    mishaps.see(entry);
    switch (entry.verb()) {
      case "start", "effect", "end", "act", "acted", "declined", "holdfast-agreed" -> seeJob(entry);
      case "holdfast-took", "holdfast-refused" -> {
        if (counts(entry)) {
          takeOut(entry);
        }
      }
      case "told" -> told.add(entry.grant());
      case "clock" -> epochMillis = Long.parseLong(entry.words().getFirst()) - entry.millis();
      default -> {}
    }
  }

  private void seeJob(Entry entry) {
    Acknowledged job = acknowledged.get(entry.job());
    if (job == null) {
      violations.add(
          new Violation(Rule.UNKNOWN, "line %d, %s".formatted(entry.order(), entry.job())));
      return;
    }
    Fate fate = fates.computeIfAbsent(job.job(), unseen -> new Fate());
    switch (entry.verb()) {
      case "start" -> start(entry, job, fate);
      case "effect" -> fate.effect |= entry.accepted();
      case "act" -> fate.granted += grants(entry);
      case "declined" -> fate.granted -= grants(entry);
      case "holdfast-agreed" -> { // its worker said that it had lost the lease, and that counts
        takeOut(entry);
        if (entry.fence() == fate.lastFence) {
          fate.lastEnd = "lost";
          fate.lastHeardMillis = entry.millis();
        }
      }
      case "acted" -> fate.resolved |= entry.words().get(1).equals("resolve");
      default -> {
        if (mayBeGivenBack(entry) && givenBack.add(entry.grant())) {
          fate.givenBack++;
        }
        if (entry.fence() == fate.lastFence) {
          fate.lastEnd = entry.how();
          fate.lastHeardMillis = entry.millis();
        }
      }
    }
  }

  // Who hears nothing of an act may have acted all the same.
  private static int grants(Entry act) {
    return act.words().get(1).equals("resolve") ? 0 : 1;
  }

  // A worker that drains does not count what its handlers throw after they were told to stop. Who
  // pulls gives nothing back: such a one was told by its own clock that its lease is over.
  private boolean mayBeGivenBack(Entry end) {
    return end.how().equals("stopped")
        || (end.how().equals("failed") && told.contains(end.grant()) && !end.who().startsWith("p"));
  }

  // Holdfast takes the release of who drains, also when it is repeated. What it refuses, the reaper
  // has ended, and that counts; and so does a failure, which is not what a drain reports.
  private static boolean counts(Entry answer) {
    List<String> words = answer.words();
    return answer.how().equals("finish")
        && (answer.is("holdfast-refused") || (words.size() > 3 && words.get(3).equals("failed")));
  }

  private void takeOut(Entry answer) {
    if (givenBack.remove(answer.grant())) {
      fates.get(answer.job()).givenBack--;
    }
  }

  private void start(Entry entry, Acknowledged job, Fate fate) {
    fate.grants++;
    if (entry.fence() > fate.lastFence) {
      fate.lastFence = entry.fence();
      fate.lastAttempt = entry.attempt();
      fate.lastEnd = "none";
      fate.lastWorker = entry.who();
      fate.lastHeardMillis = entry.millis();
    }
    // Given back ones may be repeated; all others count, also those that a crash cut short.
    int allowed = job.maxAttempts() + fate.granted;
    if (entry.attempt() > allowed || fate.grants - fate.givenBack > allowed) {
      fate.hadTooMany = true;
      violations.add(
          new Violation(
              Rule.TOO_MANY_ATTEMPTS,
              "line %d, %s: attempt %d, grant number %d, %d given back, of %d allowed"
                  .formatted(
                      entry.order(),
                      entry.job(),
                      entry.attempt(),
                      fate.grants,
                      fate.givenBack,
                      allowed)));
    }
  }

  List<Violation> violations() {
    List<Violation> all = new ArrayList<>(violations);
    for (Acknowledged job : acknowledged.values()) {
      Fate fate = fates.get(job.job());
      if (fate == null) {
        all.add(new Violation(Rule.LOST, job.line() + ": never started"));
        continue;
      }
      // What a worker reports of an attempt may be told after the next one has begun.
      int allowed = job.maxAttempts() + fate.granted;
      if (!fate.hadTooMany && fate.grants - fate.givenBack > allowed) {
        all.add(
            new Violation(
                Rule.TOO_MANY_ATTEMPTS,
                "%s: %d grants, %d given back, of %d allowed"
                    .formatted(job.line(), fate.grants, fate.givenBack, allowed)));
      }
      if (!fate.resolved && !(job.doomed() ? isExhausted(job, fate) : isDone(fate))) {
        all.add(
            new Violation(
                Rule.LOST,
                "%s: attempt %d at fence %d ended as %s%s"
                    .formatted(
                        job.line(),
                        fate.lastAttempt,
                        fate.lastFence,
                        fate.lastEnd,
                        fate.effect ? "" : ", without any effect")));
      }
    }
    return all;
  }

  private static boolean isDone(Fate fate) {
    return fate.effect && fate.lastEnd.equals("done");
  }

  private boolean isExhausted(Acknowledged job, Fate fate) {
    return hasFailedLast(job, fate) || isExcused(job, fate);
  }

  /** Whether the ledger has the failure of the last attempt allowed. */
  private static boolean hasFailedLast(Acknowledged job, Fate fate) {
    return fate.lastAttempt >= job.maxAttempts() && fate.lastEnd.equals("failed");
  }

  /** Whether that attempt can have been lost. */
  private boolean isExcused(Acknowledged job, Fate fate) {
    boolean isLost =
        fate.lastAttempt >= job.maxAttempts()
            && switch (fate.lastEnd) {
              case "lost" -> true; // so its worker said, on a machine that may be busy
              case "none" -> mishaps.canHaveSilenced(fate.lastWorker, fate.lastHeardMillis);
              // Its handler was stopped, because the lease was lost or given back.
              default -> mishaps.canHaveStopped(fate.lastWorker, fate.lastHeardMillis);
            };
    return isLost || isLostUnseen(job, fate);
  }

  /** Jobs that count as exhausted although nobody saw their last attempt fail. */
  long excused() {
    return acknowledged.values().stream()
        .filter(Acknowledged::doomed)
        .filter(job -> {
          Fate fate = fates.get(job.job());
          return fate != null
              && !fate.resolved
              && !hasFailedLast(job, fate)
              && isExcused(job, fate);
        })
        .count();
  }

  private boolean isLostUnseen(Acknowledged job, Fate fate) {
    return lost.getOrDefault(job.job(), List.of()).stream()
        .filter(each -> each.number() == job.maxAttempts() && each.fence() > fate.lastFence)
        .anyMatch(each ->
            mishaps.canHaveLost(each.worker(), each.startedAt().toEpochMilli() - epochMillis));
  }
}
