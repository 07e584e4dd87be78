package dev.holdfast.slot;

import java.util.Locale;

/** The state of a slot. */
public enum SlotStatus {
  /** Its job is enqueued and has not begun. */
  QUEUED,
  RUNNING,
  RAN,
  FAILED,
  /** A later slot that was due as well ran in its place. */
  COALESCED,
  /** Found too late, or its job was not started in time. */
  SKIPPED_MISFIRE,
  /** As many unfinished jobs of the schedule as are allowed were there already. */
  SKIPPED_OVERLAP,
  /** Its run was given up because it took too long. */
  SKIPPED_TIMEOUT;

  public String stored() {
    return name().toLowerCase(Locale.ROOT);
  }

  public static SlotStatus of(String stored) {
    return valueOf(stored.toUpperCase(Locale.ROOT));
  }
}
