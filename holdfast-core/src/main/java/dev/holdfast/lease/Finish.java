package dev.holdfast.lease;

import dev.holdfast.job.Limits;
import dev.holdfast.job.Outcome;
import java.util.Optional;

/**
 * An attempt that ended, to be recorded.
 *
 * @param logExcerpt the last lines of its log, kept with the attempt
 */
public record Finish(Lease lease, Outcome outcome, Optional<String> logExcerpt) {

  public Finish {
    logExcerpt = logExcerpt.map(text -> Limits.cut(text, Limits.LOG_EXCERPT_CHARS));
  }

  public Finish(Lease lease, Outcome outcome) {
    this(lease, outcome, Optional.empty());
  }
}
