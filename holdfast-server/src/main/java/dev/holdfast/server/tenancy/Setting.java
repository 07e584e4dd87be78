package dev.holdfast.server.tenancy;

import dev.holdfast.error.HoldfastException;
import dev.holdfast.retention.Retention;
import java.time.Duration;
import java.util.Arrays;
import java.util.List;
import java.util.Optional;

/**
 * What can be set for a tenant while the server runs, under the documents' own names where they
 * have one. Most are the defaults of a dialect's queue, and are kept where the engine reads them:
 * in that queue's own settings, so that jobs which do not say otherwise follow at once. The others
 * stand in the table of settings, where statements read them.
 */
public enum Setting {
  LEASE_SEC_DEFAULT(180, 1, 86_400, "pull", "lease_seconds"),
  MAX_ATTEMPTS_DEFAULT(3, 1, 1_000, "pull", "max_attempts"),
  BACKOFF_BASE_SEC(30, 0, 2_592_000, "pull", "retry.base_seconds"),
  BACKOFF_MAX_SEC(3_600, 0, 2_592_000, "pull", "retry.cap_seconds"),
  TOKEN_LIMIT(15_000, 1, Long.MAX_VALUE, "targets", "token_limit"),
  QUEUE_CLAIM_TTL(300, 1, 86_400, "agents", "lease_seconds"),
  HOST_HEARTBEAT_TTL(60, 1, 86_400),
  WORKER_STALE_GRACE_SECONDS(120, 0, 86_400),
  JOB_STATUS_TTL(300, 1, 86_400),
  RETENTION_SUCCEEDED_SECONDS(Retention.DEFAULTS.succeeded()),
  RETENTION_FAILED_SECONDS(Retention.DEFAULTS.failed()),
  RETENTION_LOGS_SECONDS(Retention.DEFAULTS.logs()),
  RETENTION_SLOTS_SECONDS(Retention.DEFAULTS.slots());

  /** Where a queue's defaults say it. */
  record Place(String queue, String field) {

    List<String> path() {
      return List.of(field.split("\\.", -1));
    }
  }

  private final long ofItself;
  private final long least;
  private final long most;

  @SuppressWarnings("ImmutableEnumChecker") // a record of two strings
  private final Optional<Place> place;

  Setting(long ofItself, long least, long most, String queue, String field) {
    this(ofItself, least, most, Optional.of(new Place(queue, field)));
  }

  Setting(long ofItself, long least, long most) {
    this(ofItself, least, most, Optional.empty());
  }

  Setting(Duration kept) {
    this(kept.toSeconds(), Retention.LEAST.toSeconds(), Integer.MAX_VALUE);
  }

  Setting(long ofItself, long least, long most, Optional<Place> place) {
    this.ofItself = ofItself;
    this.least = least;
    this.most = most;
    this.place = place;
  }

  /** What it is when nobody said. */
  public long ofItself() {
    return ofItself;
  }

  /** Empty where it stands in the table of settings. */
  Optional<Place> place() {
    return place;
  }

  /** Agents' leases end by it, also those that they have already. */
  boolean endsAgentsLeases() {
    return this == QUEUE_CLAIM_TTL || this == JOB_STATUS_TTL;
  }

  long checked(long value) {
    if (value < least || value > most) {
      throw HoldfastException.invalid(name(), value, least + " to " + most);
    }
    return value;
  }

  /** From text, as the environment has it. */
  public long parse(String text) {
    try {
      return checked(Long.parseLong(text.strip()));
    } catch (NumberFormatException e) {
      throw HoldfastException.invalid(name(), text, least + " to " + most);
    }
  }

  /** Whether the defaults of a queue contain settings. */
  public static boolean areKeptIn(String queue) {
    return Arrays.stream(values())
        .flatMap(setting -> setting.place.stream())
        .anyMatch(place -> place.queue().equals(queue));
  }

  public static Optional<Setting> named(String name) {
    return Arrays.stream(values()).filter(setting -> setting.name().equals(name)).findFirst();
  }
}
