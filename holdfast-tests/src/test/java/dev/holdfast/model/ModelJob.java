package dev.holdfast.model;

import dev.holdfast.model.Command.How;
import dev.holdfast.model.Command.Spec;
import java.util.Comparator;
import java.util.HashMap;
import java.util.Map;
import java.util.Optional;
import java.util.UUID;

/** What the model knows of one job. */
final class ModelJob {

  enum Phase {
    QUEUED,
    RUNNING,
    STOPPING,
    PAUSED,
    SUCCEEDED,
    FAILED,
    CANCELLED
  }

  /** The order in which jobs are to start. */
  static final Comparator<ModelJob> ORDER =
      Comparator.comparingInt((ModelJob job) -> job.spec.priority())
          .thenComparingLong(job -> job.runAt)
          .thenComparingInt(job -> job.number);

  final int number;
  final UUID id;
  final Spec spec;
  final Map<Long, Recorded> ends = new HashMap<>();
  Phase phase = Phase.QUEUED;
  long runAt;
  int attempt;
  int failures;
  int granted;
  long fence;
  String worker = "";
  long expiresAt;
  Optional<Phase> stopAs = Optional.empty();

  /** An end that is recorded under a fence: by whom, and what the job became. */
  record Recorded(Optional<How> saidByWorker, Phase phase) {}

  ModelJob(int number, UUID id, Spec spec, long runAt) {
    this.number = number;
    this.id = id;
    this.spec = spec;
    this.runAt = runAt;
  }

  boolean isLeased() {
    return phase == Phase.RUNNING || phase == Phase.STOPPING;
  }

  boolean isFinished() {
    return phase == Phase.SUCCEEDED || phase == Phase.FAILED || phase == Phase.CANCELLED;
  }

  boolean isDue(long now) {
    return phase == Phase.QUEUED && runAt <= now;
  }

  boolean hasLostALease() {
    return ends.values().stream().anyMatch(end -> end.saidByWorker.isEmpty());
  }

  boolean isLastAttempt() {
    return attempt >= spec.maxAttempts() + granted;
  }

  Optional<String> targetResource() {
    return spec.target().map(target -> "target:" + target);
  }

  @Override
  public String toString() {
    return "job " + number;
  }
}
