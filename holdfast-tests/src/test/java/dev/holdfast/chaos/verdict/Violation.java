package dev.holdfast.chaos.verdict;

/** What the ledger shows that must never be. */
public record Violation(Rule rule, String detail) {

  public enum Rule {
    /** An acknowledged job never came to its end. */
    LOST,
    /** A job that nobody acknowledged. */
    UNKNOWN,
    /** Two attempts had one resource, or ran one job, at the same time. */
    OVERLAP,
    /** The ledger took something under a fence smaller than one it had seen. */
    STALE_ACCEPTED,
    /** Holdfast took something from an attempt whose place another had taken. */
    STALE_WRITTEN,
    /** A job that was done, and known to be, was started again, and nobody had asked for that. */
    FINISHED_AGAIN,
    /** One grant did its work twice. */
    DOUBLE_EFFECT,
    /** Jobs of one target did not start in the order in which they were enqueued. */
    OUT_OF_ORDER,
    /** A job started on a target on which another stood. */
    BEHIND_BLOCK,
    /** A slot had the effects of two jobs, or was decided about twice. */
    SLOT_TWICE,
    /** A moment of a schedule that nobody decided about. */
    SLOT_MISSED,
    /** A slot of a time at which its schedule was not in force. */
    SLOT_UNTIMELY,
    /** More attempts than policy and people allow. */
    TOO_MANY_ATTEMPTS
  }
}
