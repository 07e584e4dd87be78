package dev.holdfast.queue;

import java.time.Instant;
import java.util.Locale;
import java.util.Optional;
import java.util.UUID;

/** Why a job is not running: the one reason, and what it is about. */
public record Why(Reason reason, String detail, Optional<BlockedBy> blockedBy) {

  /** In the order in which they are looked for; the first that applies is the answer. */
  public enum Reason {
    /** It is over. */
    FINISHED,
    /** A worker has it. */
    RUNNING,
    /** Somebody paused it, or its stop ended in a pause. */
    PAUSED,
    /** Stored, and not offered to workers until somebody queues it. */
    PENDING,
    /** Its time has not come. */
    NOT_DUE,
    /** Its queue is paused. */
    QUEUE_PAUSED,
    /** Another job stands on its target until somebody acts. */
    RESOURCE_BLOCKED,
    /** An earlier job of its target comes first. */
    NOT_ITS_TURN,
    /** A running job has what it needs. */
    RESOURCE_HELD,
    /** A worker fell silent with it; it passes on when its work must be over. */
    RESOURCE_PASSING_ON,
    /** It is kept for a job that was passed over too often. */
    RESOURCE_RESERVED,
    /** As many jobs of its queue run as its limit allows. */
    QUEUE_FULL,
    /** No worker that is online serves its queue and kind at its host and with its labels. */
    NO_WORKER,
    /** Nothing is in its way: the next free worker takes it. */
    CLAIMABLE;

    /** As it is said on the wire. */
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
