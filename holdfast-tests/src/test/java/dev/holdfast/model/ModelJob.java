package dev.holdfast.model;

import dev.holdfast.model.Command.How;
import dev.holdfast.model.Command.Spec;
import java.util.Comparator;
import java.util.HashMap;
import java.util.HashSet;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.Set;
import java.util.UUID;

/** What the model knows of one job. */
final class ModelJob {

  enum Phase {
    PENDING,
    QUEUED,
    DISPATCHED,
    RUNNING,
    STOPPING,
    PAUSED,
    SUCCEEDED,
    FAILED,
    CANCELLED
  }

  /** The order in which jobs are to start. */
  static final Comparator<ModelJob> ORDER =
      Comparator.comparingInt((ModelJob job) -> job.priority)
          .thenComparingLong(job -> job.runAt)
          .thenComparingLong(job -> job.seq);

  final int number;
  final UUID id;
  final Spec spec;
  final long seq;
  final Map<Long, Recorded> ends = new HashMap<>();
  final Set<String> items = new HashSet<>();
  final Set<String> keys = new HashSet<>();
  Phase phase;
  int priority;
  long runAt;
  int attempt;
  int failures;
  int granted;
  long fence;
  String worker = "";
  long expiresAt;
  OptionalLong startedAt = OptionalLong.empty();
  OptionalLong timesOutAt = OptionalLong.empty();
  Optional<Phase> stopAs = Optional.empty();
  boolean wasStopped; // and is not what its worker said
  boolean isActedOn; // by people, since its last attempt ended
  Why why = Why.ANY;
  int tokens;
  int results;

  /** Why it ended, as far as its slot makes a difference of it. */
  enum Why {
    ANY,
    LEASE_LOST,
    MISFIRE
  }

  /** On whose word an attempt ended. */
  enum By {
    WORKER,
    REAPER,
    FORCE
  }

  /**
   * An end that is recorded under a fence: by whom, what a worker said, what the job became.
   *
   * @param outcome the word for it in the history of attempts
   */
  record Recorded(
      By by, Optional<How> saidByWorker, Phase phase, boolean wasStopped, String outcome) {}

  ModelJob(int number, UUID id, Spec spec, long seq, long runAt) {
    this.number = number;
    this.id = id;
    this.spec = spec;
    this.seq = seq;
    this.runAt = runAt;
    phase = spec.isPending() ? Phase.PENDING : Phase.QUEUED;
    priority = spec.priority();
  }

  boolean isLeased() {
    return phase == Phase.DISPATCHED || runs();
  }

  /** Its worker has said that it started. */
  boolean runs() {
    return phase == Phase.RUNNING || phase == Phase.STOPPING;
  }

  /** It went over a limit. */
  boolean isToBeFailed() {
    return stopAs.equals(Optional.of(Phase.FAILED));
  }

  boolean isToBeCancelled() {
    return stopAs.equals(Optional.of(Phase.CANCELLED));
  }

  boolean isFinished() {
    return phase == Phase.SUCCEEDED || phase == Phase.FAILED || phase == Phase.CANCELLED;
  }

  boolean hasBegun() {
    return fence > 0;
  }

  boolean isDue(long now) {
    return phase == Phase.QUEUED && runAt <= now;
  }

  /** The attempt with this fence was its last, and nobody has done anything to it since. */
  boolean isAsLeftBy(long fence) {
    return this.fence == fence && !isLeased() && !isActedOn;
  }

  boolean hasLostALease() {
    return ends.values().stream().anyMatch(end -> end.by != By.WORKER);
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
