package dev.holdfast.worker;

import dev.holdfast.job.Limits;
import dev.holdfast.job.Progress;
import dev.holdfast.lease.Report;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.locks.ReentrantLock;
import org.jspecify.annotations.Nullable;

/**
 * What a handler reported and is not stored yet, and the last lines of its log. A report whose fate
 * is unknown is sent again unchanged before anything newer. Thread-safe.
 */
final class Unsent {

  // One line is kept for saying how many were dropped.
  private static final int MOST_LINES = Limits.LOG_LINES_PER_REPORT - 1;

  private final String name;
  private final ReentrantLock lock = new ReentrantLock();
  private final List<String> lines = new ArrayList<>();
  private final Deque<String> lastLines = new ArrayDeque<>();
  private Progress progress = Progress.NONE;
  private long droppedLines;
  private long inputTokens;
  private long outputTokens;
  private int tailChars;
  private long reports;
  private @Nullable Report sending;

  /**
   * For one attempt.
   *
   * @param name a name that no other attempt of the job has
   */
  Unsent(String name) {
    this.name = name;
  }

  void add(Progress said) {
    lock.lock();
    try {
      progress = progress.with(said);
    } finally {
      lock.unlock();
    }
  }

  void add(String line) {
    lock.lock();
    try {
      remember(line);
      if (lines.size() < MOST_LINES) {
        lines.add(line);
      } else {
        droppedLines++;
      }
    } finally {
      lock.unlock();
    }
  }

  private void remember(String line) {
    String kept = Limits.cut(line, Limits.LOG_EXCERPT_CHARS);
    lastLines.add(kept);
    tailChars += kept.length() + 1;
    while (tailChars > Limits.LOG_EXCERPT_CHARS && lastLines.size() > 1) {
      tailChars -= lastLines.remove().length() + 1;
    }
  }

  void addUsage(long input, long output) {
    lock.lock();
    try {
      inputTokens += input;
      outputTokens += output;
    } finally {
      lock.unlock();
    }
  }

  /** Whether nothing is left to send and nothing is being sent. */
  boolean isEmpty() {
    lock.lock();
    try {
      return (sending == null || sending.isEmpty()) && isSilent();
    } finally {
      lock.unlock();
    }
  }

  private boolean isSilent() {
    return progress.equals(Progress.NONE) && lines.isEmpty() && inputTokens + outputTokens == 0;
  }

  /** What to send next; the same until it is {@link #sent}. */
  Report next() {
    lock.lock();
    try {
      if (sending == null) {
        sending = gather();
      }
      return sending;
    } finally {
      lock.unlock();
    }
  }

  private Report gather() {
    if (isSilent()) {
      return Report.EMPTY; // the usual case
    }
    if (droppedLines > 0) {
      lines.add("… " + droppedLines + " lines dropped: too many at once");
    }
    // Tokens are added up, so a report that carries them must not be counted twice.
    Optional<String> key =
        inputTokens + outputTokens > 0 ? Optional.of(name + "-" + ++reports) : Optional.empty();
    Report report = new Report(progress, lines, inputTokens, outputTokens, List.of(), key);
    progress = Progress.NONE;
    lines.clear();
    droppedLines = 0;
    inputTokens = 0;
    outputTokens = 0;
    return report;
  }

  void sent() {
    lock.lock();
    try {
      sending = null;
    } finally {
      lock.unlock();
    }
  }

  /** The last lines, as many as are kept with an attempt. */
  Optional<String> excerpt() {
    lock.lock();
    try {
      return lastLines.isEmpty() ? Optional.empty() : Optional.of(String.join("\n", lastLines));
    } finally {
      lock.unlock();
    }
  }
}
