package dev.holdfast.server.dialect.targets;

import dev.holdfast.error.HoldfastException;
import dev.holdfast.job.JobState;
import java.util.Arrays;
import java.util.EnumSet;
import java.util.Locale;
import java.util.Set;
import java.util.stream.Collectors;

/** The states of a target's job, and which of the engine's they are. */
enum TargetStatus {
  PENDING,
  QUEUED,
  RUNNING,
  PAUSED,
  ERROR,
  SUCCESS,
  CANCELED;

  static TargetStatus of(JobState state) {
    return switch (state) {
      case PENDING -> PENDING;
      case QUEUED -> QUEUED;
      case DISPATCHED, RUNNING, STOPPING -> RUNNING;
      case PAUSED -> PAUSED;
      case FAILED -> ERROR;
      case SUCCEEDED -> SUCCESS;
      case CANCELLED -> CANCELED;
    };
  }

  /** As clients say it, in either case. */
  static TargetStatus parse(String text) {
    return Arrays.stream(values())
        .filter(status -> status.name().equalsIgnoreCase(text))
        .findFirst()
        .orElseThrow(() ->
            HoldfastException.invalid(
                "status",
                text,
                Arrays.stream(values())
                    .map(TargetStatus::onTheWire)
                    .collect(Collectors.joining(", "))));
  }

  Set<JobState> states() {
    return Arrays.stream(JobState.values())
        .filter(state -> of(state) == this)
        .collect(Collectors.toCollection(() -> EnumSet.noneOf(JobState.class)));
  }

  String onTheWire() {
    return name().toLowerCase(Locale.ROOT);
  }
}
