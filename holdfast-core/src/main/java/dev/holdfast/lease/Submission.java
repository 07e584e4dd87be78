package dev.holdfast.lease;

import dev.holdfast.error.HoldfastException;
import dev.holdfast.job.Limits;
import dev.holdfast.job.Outcome;
import java.time.Duration;
import java.util.Optional;

/**
 * A report that also says how its attempt goes on, for workers that have no other word: all of it
 * is stored, or nothing. A job that somebody asked to stop ends with it, because nothing else would
 * tell its worker.
 *
 * @param seen adds to the progress count
 * @param extension the lease lasts at least so long from now
 * @param end how the attempt ended, if it did
 */
public record Submission(Report report, long seen, Duration extension, Optional<End> end) {

  /**
   * How an attempt ended.
   *
   * @param doneReason of a success, where that is not that its worker said so
   * @param logExcerpt the last of what it said, kept with the attempt
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
