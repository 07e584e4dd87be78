package dev.holdfast.model;

import java.util.Optional;
import java.util.OptionalLong;

/** What the model knows of one slot. */
final class ModelSlot {

  enum Status {
    QUEUED,
    RUNNING,
    RAN,
    FAILED,
    COALESCED,
    SKIPPED_MISFIRE,
    SKIPPED_OVERLAP,
    SKIPPED_TIMEOUT
  }

  /** A moment of a schedule, in milliseconds. */
  record Key(String schedule, long at) {}

  final Key key;
  final long decidedAt;
  final Optional<Integer> job;
  Status status;
  OptionalLong startedAt = OptionalLong.empty();
  String worker = "";

  ModelSlot(Key key, Status status, Optional<Integer> job, long decidedAt) {
    this.key = key;
    this.status = status;
    this.job = job;
    this.decidedAt = decidedAt;
  }

  boolean isOpen() {
    return status == Status.QUEUED || status == Status.RUNNING;
  }
}
