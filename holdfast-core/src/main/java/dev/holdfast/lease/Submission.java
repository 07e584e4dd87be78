package dev.holdfast.lease;

import dev.holdfast.error.HoldfastException;
import dev.holdfast.job.Limits;
import dev.holdfast.job.Outcome;
import java.time.Duration;
import java.util.Optional;

/**
 * A report that also says how its attempt goes on, for workers that send nothing else: all of it is
 * stored, or nothing. A job that was asked to stop ends with it, because nothing else would tell
 * its worker.
 *
 * @param seen how much to add to the progress count
 * @param extension how long the lease lasts from now, at least
 * @param end how the attempt ended, if it did
 */
public record Submission(Report report, long seen, Duration extension, Optional<End> end) {

  /**
   * How an attempt ended.
   *
   * @param doneReason why a job that succeeded is done, unless it is only that its worker said so
   * @param logExcerpt the last lines of its log, kept with the attempt
   */
  public record End(Outcome outcome, Optional<String> doneReason, Optional<String> logExcerpt) {

    public End {
      doneReason.ifPresent(reason -> Limits.name("done_reason", reason));
    }
  }

  public Submission {
    if (seen < 0) {
      throw HoldfastException.invalid("seen", seen, "0 or more");
    }
    if (extension.isNegative()) {
      throw HoldfastException.invalid("extension", extension, "0 or more");
    }
  }
}
