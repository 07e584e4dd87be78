package dev.holdfast.job;

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

  /** Empty for the key of a job that is not a slot's. */
  public static Optional<SlotKey> of(@Nullable String uniqueKey, Needs needs) {
    if (uniqueKey == null || !uniqueKey.startsWith(PREFIX) || !needs.maySerialiseASchedule()) {
      return Optional.empty();
    }
    int end = uniqueKey.lastIndexOf(SEPARATOR);
    String schedule = uniqueKey.substring(PREFIX.length(), Math.max(end, PREFIX.length()));
    return needs.resources().contains(Needs.resourceOfSchedule(schedule))
        ? Optional.of(new SlotKey(schedule, Instant.parse(uniqueKey.substring(end + 1))))
        : Optional.empty();
  }
}
