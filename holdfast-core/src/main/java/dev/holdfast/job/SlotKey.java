package dev.holdfast.job;

import java.time.DateTimeException;
import java.time.Instant;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/**
 * Which slot a job is for. It is the job's unique key, so that it goes with the job wherever that
 * goes, whenever it is tried again.
 */
public record SlotKey(String schedule, Instant scheduledFor) {

  private static final String PREFIX = "slot:";
  private static final char SEPARATOR = '@';

  public UniqueKey uniqueKey() {
    return new UniqueKey(PREFIX + schedule + SEPARATOR + scheduledFor, UniqueKey.Scope.TENANT);
  }

  /**
   * Empty for the key of a job that is not a slot's. Anybody's key may look like one: it is read
   * with every lease, and what cannot be read must not keep a claim from its other jobs.
   */
  public static Optional<SlotKey> of(@Nullable String uniqueKey, Needs needs) {
    if (uniqueKey == null || !uniqueKey.startsWith(PREFIX) || !needs.maySerialiseASchedule()) {
      return Optional.empty();
    }
    int end = uniqueKey.lastIndexOf(SEPARATOR);
    String schedule = uniqueKey.substring(PREFIX.length(), Math.max(end, PREFIX.length()));
    if (!needs.resources().contains(Needs.resourceOfSchedule(schedule))) {
      return Optional.empty();
    }
    try {
      return Optional.of(new SlotKey(schedule, Instant.parse(uniqueKey.substring(end + 1))));
    } catch (DateTimeException e) {
      return Optional.empty();
    }
  }
}
