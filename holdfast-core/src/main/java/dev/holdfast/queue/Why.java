package dev.holdfast.queue;

import java.time.Instant;
import java.util.Locale;
import java.util.Optional;
import java.util.UUID;

/** Why a job is not running: the one reason, and its details. */
public record Why(Reason reason, String detail, Optional<BlockedBy> blockedBy) {

  /** In the order in which they are checked; the first that applies is the answer. */
  public enum Reason {
    /** It is finished. */
    FINISHED,
    /** It is leased to a worker. */
    RUNNING,
    /** An operator paused it, or a stop or a drain ended in a pause. */
    PAUSED,
    /** Stored, and not offered to workers until an operator queues it. */
    PENDING,
    /** Its time has not come. */
    NOT_DUE,
    /** Its queue is paused. */
    QUEUE_PAUSED,
    /** Another job blocks its target until an operator acts. */
    RESOURCE_BLOCKED,
    /** An earlier job of its target comes first. */
    NOT_ITS_TURN,
    /** A running job holds a resource that it needs. */
    RESOURCE_HELD,
    /** A silent worker still holds a resource that it needs, until that work must be over. */
    RESOURCE_PASSING_ON,
    /** A resource that it needs is reserved for a job that was passed over too often. */
    RESOURCE_RESERVED,
    /** As many jobs of its queue run as its limit allows. */
    QUEUE_FULL,
    /** No worker that is online serves its queue and kind at its host and with its labels. */
    NO_WORKER,
    /** Nothing is in its way: the next free worker takes it. */
    CLAIMABLE;

    /** The name in the API. */
    public String stored() {
      return name().toLowerCase(Locale.ROOT);
    }
  }

  /** The job in the way. */
  public record BlockedBy(String resource, UUID jobId, String state, Instant since) {}

  static Why because(Reason reason, String detail) {
    return new Why(reason, detail, Optional.empty());
  }
}
