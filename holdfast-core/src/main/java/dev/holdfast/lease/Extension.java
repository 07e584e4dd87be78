package dev.holdfast.lease;

/** What a heartbeat found out about one lease. */
public record Extension(LeaseKey key, Status status) {

  public enum Status {
    /** The lease runs anew from now. */
    EXTENDED,
    /** Extended, and somebody wants the job to stop. */
    STOP_REQUESTED,
    /** Still ours, but another transaction is writing the row; the next beat will tell. */
    BUSY,
    /** Somebody else has the job, or nobody. Final. */
    LOST
  }
}
