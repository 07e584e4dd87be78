package dev.holdfast.lease;

/** What a heartbeat found out about one lease. */
public record Extension(LeaseKey key, Status status) {

  public enum Status {
    /** The lease runs anew from now. */
    EXTENDED,
    /** Extended, and the job was asked to stop. */
    STOP_REQUESTED,
    /** Not extended, but still ours: another transaction has the row. The next beat will tell. */
    BUSY,
    /** No longer in force, whether another worker has the job or none. Final. */
    LOST
  }
}
