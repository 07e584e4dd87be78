package dev.holdfast.lease;

/** What became of a report. Having lost the lease is an answer, not an error. */
public sealed interface ReportReply {

  /**
   * All of it is stored.
   *
   * @param duplicates items that the job had already, or that came twice
   */
  record Stored(int added, int duplicates) implements ReportReply {}

  /** A report with this key is stored already; this one changed nothing. */
  record Repeated() implements ReportReply {}

  /** Somebody else has the job now; nothing was stored. */
  record Lost() implements ReportReply {}
}
