package dev.holdfast.lease;

import dev.holdfast.job.JobState;
import java.util.Optional;

/** What became of a report. Having lost the lease is an answer, not an error. */
public sealed interface ReportReply {

  /**
   * All of it is stored.
   *
   * @param duplicates items that the job had already, or that came twice
   * @param ended what the job became, when this report also ended the attempt, for example because
   *     the job now has the results it is for
   */
  record Stored(int added, int duplicates, Optional<JobState> ended) implements ReportReply {

    public Stored(int added, int duplicates) {
      this(added, duplicates, Optional.empty());
    }
  }

  /** A report with this key is stored already; this one changed nothing. */
  record Repeated() implements ReportReply {}

  /** The lease is no longer in force; nothing was stored. */
  record Lost() implements ReportReply {}
}
