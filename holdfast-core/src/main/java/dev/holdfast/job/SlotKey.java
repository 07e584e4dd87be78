package dev.holdfast.job;

import java.time.DateTimeException;
import java.time.Instant;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/**
 * Which slot a job is for. It is stored as the job's unique key, so that it goes with the job
 * wherever that goes, whenever it is tried again; in a scope of its own, so that no key that
 * anybody gives to another job can be in its way, or be taken for it.
 */
public record SlotKey(String schedule, Instant scheduledFor) {

  /** No scope of a {@link UniqueKey} is ever called so. */
  public static final String SCOPE = "slot";

  private static final String PREFIX = "slot:";
  private static final char SEPARATOR = '@';

  public String stored() {
    return PREFIX + schedule + SEPARATOR + scheduledFor;
  }

  /**
   * The slot of a job that is for one. It is read with every lease, and what cannot be read must
   * not keep a claim from its other jobs.
   *
   * @param stored the job's key, if that is of our scope
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
