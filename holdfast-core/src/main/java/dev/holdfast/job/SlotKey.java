package dev.holdfast.job;

import java.time.DateTimeException;
import java.time.Instant;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/**
 * The slot of a schedule that a job runs for. It is stored as the job's unique key, so that it
 * stays with the job in every table and every attempt. Its scope is its own, so that it neither
 * collides with a unique key that a caller gives to another job, nor can be mistaken for one.
 */
public record SlotKey(String schedule, Instant scheduledFor) {

  /** Never the scope of a {@link UniqueKey}. */
  public static final String SCOPE = "slot";

  private static final String PREFIX = "slot:";
  private static final char SEPARATOR = '@';

  public String stored() {
    return PREFIX + schedule + SEPARATOR + scheduledFor;
  }

  /**
   * Reads a job's slot; empty for a job without one, and for a key that cannot be read. Slots are
   * read with every lease, and an unreadable one must not fail the claim of the other jobs.
   *
   * @param stored the job's unique key, if its scope is {@link #SCOPE}
   */
  public static Optional<SlotKey> of(@Nullable String stored) {
    if (stored == null || !stored.startsWith(PREFIX)) {
      return Optional.empty();
    }
    int end = stored.lastIndexOf(SEPARATOR);
    try {
      Instant scheduledFor = Instant.parse(stored.substring(end + 1));
      return Optional.of(new SlotKey(stored.substring(PREFIX.length(), end), scheduledFor));
    } catch (DateTimeException | IndexOutOfBoundsException e) {
      return Optional.empty();
    }
  }
}
