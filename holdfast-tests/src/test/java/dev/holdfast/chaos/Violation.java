package dev.holdfast.chaos;

/** What the ledger shows that must never be. */
record Violation(Rule rule, String detail) {

  enum Rule {
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
    /** One grant did its work twice. */
    DOUBLE_EFFECT,
    /** Jobs of one target did not start in the order in which they were enqueued. */
    OUT_OF_ORDER,
    /** More attempts than the policy allows. */
    TOO_MANY_ATTEMPTS
  }
}
