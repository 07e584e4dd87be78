package dev.holdfast.slot;

import java.util.Locale;

/** What became of a slot, or is becoming. */
public enum SlotStatus {
  /** Its job is there and has not begun. */
  QUEUED,
  RUNNING,
  RAN,
  FAILED,
  /** A later one that was due as well ran for it. */
  COALESCED,
  /** Found too late. */
  SKIPPED_MISFIRE,
  /** As many of its schedule's jobs as may be were there already. */
  SKIPPED_OVERLAP,
  /** Its run was given up: nobody had heard of it for too long. */
  SKIPPED_TIMEOUT;

  public String stored() {
    return name().toLowerCase(Locale.ROOT);
  }

  public static SlotStatus of(String stored) {
    return valueOf(stored.toUpperCase(Locale.ROOT));
  }
}
