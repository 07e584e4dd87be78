package dev.holdfast.chaos.verdict;

import dev.holdfast.chaos.ledger.Entry;
import dev.holdfast.chaos.verdict.Violation.Rule;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/**
 * A job that is done stays done: after a grant that said it had ended well, and of which Holdfast
 * took that, no later one starts, unless an operator acted on the job in between. In whatever order
 * the two are in the ledger: what Holdfast answered is told after others may have started.
 */
final class Finality {

  // Of every job of a long run, so it is kept small. Lines count from 1.
  private static final class Career {
    private long startFence; // the largest
    private long startLine;
    private long actBeforeStart; // the line of the last act before that
    private long firstSaidFence; // of the first that said it is done
    private long firstSaidLine;
    private long saidFence; // of the last
    private long saidLine;
    private long doneFence; // the same, once Holdfast took that
    private long doneLine;
    private long actLine; // of the last act that was not declined, as far as one knows
    private long earlierActLine;
  }

  private final Map<String, Career> careers = new HashMap<>();
  private final List<Violation> violations = new ArrayList<>();

  void see(Entry entry) {
    switch (entry.verb()) {
      case "start" -> {
        if (entry.accepted()) {
          start(entry, career(entry));
        }
      }
      case "end" -> {
        if (entry.accepted() && entry.how().equals("done")) {
          said(entry, career(entry));
        }
      }
      case "holdfast-took" -> {
        if (isSuccess(entry)) {
          took(entry, career(entry));
        }
      }
      case "act" -> acted(entry, career(entry));
      case "declined" -> {
        Career career = career(entry);
        career.actLine = career.earlierActLine;
      }
      default -> {}
    }
  }

  private Career career(Entry entry) {
    return careers.computeIfAbsent(entry.job(), unseen -> new Career());
  }

  // Who tells with what outcome says so in a fourth word.
  private static boolean isSuccess(Entry took) {
    return took.how().equals("finish")
        && (took.words().size() < 4 || took.words().get(3).equals("succeeded"));
  }

  private void start(Entry entry, Career career) {
    if (entry.fence() <= career.startFence) {
      return; // for fences to judge
    }
    career.startFence = entry.fence();
    career.startLine = entry.order();
    career.actBeforeStart = career.actLine;
    check(entry, career);
  }

  private static void acted(Entry entry, Career career) {
    career.earlierActLine = career.actLine;
    career.actLine = entry.order();
  }

  private static void said(Entry entry, Career career) {
    career.saidFence = entry.fence();
    career.saidLine = entry.order();
    if (career.firstSaidFence == 0) {
      career.firstSaidFence = career.saidFence;
      career.firstSaidLine = career.saidLine;
    }
  }

  private void took(Entry entry, Career career) {
    if (career.saidFence == entry.fence()) {
      career.doneLine = career.saidLine;
    } else if (career.firstSaidFence == entry.fence()) {
      career.doneLine = career.firstSaidLine;
    } else {
      return;
    }
    career.doneFence = entry.fence();
    check(entry, career);
  }

  private void check(Entry entry, Career career) {
    boolean isDone = career.doneFence > 0;
    boolean wasAsked = career.actBeforeStart > career.doneLine;
    if (isDone && career.startFence > career.doneFence && !wasAsked) {
      violations.add(
          new Violation(
              Rule.FINISHED_AGAIN,
              "%s: done under fence %d in line %d, started under fence %d in line %d"
                  .formatted(
                      entry.job(),
                      career.doneFence,
                      career.doneLine,
                      career.startFence,
                      career.startLine)));
    }
  }

  List<Violation> violations() {
    return violations;
  }
}
