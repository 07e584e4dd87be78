package dev.holdfast.executor;

import dev.holdfast.job.Limits;
import dev.holdfast.worker.JobContext;
import java.util.function.Consumer;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Splits text into lines for a job's log. If there are too many, the last line says so. A line that
 * is too long continues in the next one. Not thread-safe.
 */
final class LogLines {

  private static final Logger log = LoggerFactory.getLogger(LogLines.class);

  // A report has room for a thousand lines; the writer waits until these are stored.
  private static final int LINES_AT_ONCE = 500;
  private static final int CHARS_AT_ONCE = 200_000;
  // An empty line is a row, too, and counts as this many.
  private static final int CHARS_PER_LINE = 50;

  private final Consumer<String> kept;
  private final Runnable send;
  private final int maxChars;
  private final StringBuilder line = new StringBuilder();
  private long keptChars;
  private int unsentLines;
  private int unsentChars;
  private boolean isFull;

  LogLines(JobContext job, int maxChars) {
    this(job::log, () -> send(job), maxChars);
  }

  /**
   * Passes lines to any consumer.
   *
   * @param send sends the lines so far, and waits until it is done
   */
  LogLines(Consumer<String> kept, Runnable send, int maxChars) {
    this.kept = kept;
    this.send = send;
    this.maxChars = maxChars;
  }

  void add(String text) {
    int from = 0;
    while (from < text.length() && !isFull) {
      int newline = text.indexOf('\n', from);
      int to = newline < 0 ? text.length() : newline;
      addToLine(text, from, to);
      if (newline >= 0) {
        endLine();
      }
      from = to + 1;
    }
  }

  /** Passes on the last line, if it is incomplete. */
  void end() {
    if (!line.isEmpty()) {
      endLine();
    }
  }

  private void addToLine(String text, int from, int to) {
    line.append(text, from, to);
    while (line.length() > Limits.LOG_LINE_CHARS) {
      int end = Limits.LOG_LINE_CHARS;
      if (Character.isHighSurrogate(line.charAt(end - 1))) {
        end--;
      }
      keep(line.substring(0, end));
      line.delete(0, end);
    }
  }

  private void endLine() {
    boolean fromWindows = !line.isEmpty() && line.charAt(line.length() - 1) == '\r';
    keep(line.substring(0, fromWindows ? line.length() - 1 : line.length()));
    line.setLength(0);
  }

  private void keep(String whole) {
    if (isFull) {
      return;
    }
    keptChars += Math.max(whole.length(), CHARS_PER_LINE);
    if (keptChars > maxChars) {
      isFull = true;
      kept.accept("… the rest of the output is not kept: more than " + maxChars + " characters");
      return;
    }
    kept.accept(whole);
    unsentLines++;
    unsentChars += whole.length();
    if (unsentLines >= LINES_AT_ONCE || unsentChars >= CHARS_AT_ONCE) {
      unsentLines = 0;
      unsentChars = 0;
      send.run();
    }
  }

  private static void send(JobContext job) {
    try {
      boolean unused = job.flush(); // a lost lease interrupts the handler anyway
    } catch (RuntimeException e) {
      // The command must not stop because of this. The lines are sent again, and gaps are reported.
      log.debug("Could not store the output of job {}", job.jobId(), e);
    }
  }
}
