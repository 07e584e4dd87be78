package dev.holdfast.lease;

import dev.holdfast.job.Limits;
import dev.holdfast.job.Progress;
import java.util.List;

/**
 * What a running attempt wants remembered.
 *
 * @param inputTokens increment, not a total; so is {@code outputTokens}
 */
public record Report(
    Progress progress, List<String> logLines, long inputTokens, long outputTokens) {

  public Report {
    logLines = logLines.stream().map(line -> Limits.cut(line, Limits.LOG_LINE_CHARS)).toList();
  }

  public boolean isEmpty() {
    return logLines.isEmpty() && !changesJob();
  }

  /** Says something that is kept in the job's own row. */
  boolean changesJob() {
    return inputTokens != 0 || outputTokens != 0 || !progress.equals(Progress.NONE);
  }

  public static Report of(Progress progress) {
    return new Report(progress, List.of(), 0, 0);
  }

  public static Report ofLog(List<String> lines) {
    return new Report(Progress.NONE, lines, 0, 0);
  }
}
