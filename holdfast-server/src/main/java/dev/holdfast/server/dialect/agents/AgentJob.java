package dev.holdfast.server.dialect.agents;

import dev.holdfast.job.JobState;
import dev.holdfast.job.Placement;
import java.time.Instant;
import java.util.Optional;
import java.util.UUID;

/**
 * An agents' job as the database has it: the engine's row, what agents said, and what the files
 * show.
 *
 * @param worker who has it, or had it when it ended
 * @param attemptOutcome how the attempt ended that ended the job
 * @param simulation empty where its arguments are not those of one
 */
record AgentJob(
    UUID id,
    JobState state,
    long fence,
    Optional<String> worker,
    Optional<String> attemptOutcome,
    Optional<Simulation> simulation,
    Optional<String> errorMessage,
    Placement placement,
    Words words,
    Shown shown) {

  private static final String STOPPED = "stopped";

  /** What agents said, under the lease {@code fence}. */
  record Words(
      Optional<String> worker,
      long fence,
      Optional<String> said,
      Optional<String> containerId,
      Optional<String> containerName,
      Optional<Integer> exitCode,
      Optional<String> error,
      Optional<String> details,
      long revision) {}

  /** What its files show, and since when. */
  record Shown(
      Optional<String> key,
      long revision,
      Optional<Instant> at,
      Optional<String> info,
      Optional<String> queueFile) {}

  // The engine also calls an attempt stopped whose agent fell silent when it was asked to stop.
  // That it stopped is only what the agent itself says.
  AgentStatus status() {
    boolean saidSo = wordsCount() && words.said.equals(Optional.of(AgentStatus.STOPPED.word()));
    return AgentStatus.of(state, attemptOutcome.equals(Optional.of(STOPPED)) && saidSo);
  }

  /**
   * What is to be seen of it from outside; with the revision, all of it. One that waits can be
   * given to another host without moving otherwise.
   */
  String key() {
    String moved = state.stored() + ":" + fence;
    return state == JobState.QUEUED
        ? String.join(
            ":", moved, placement.host().orElse(""), String.valueOf(placement.hostRequired()))
        : moved;
  }

  boolean isShown() {
    return shown.key.equals(Optional.of(key())) && shown.revision == words.revision;
  }

  /** Who has it now, or had it last. */
  Optional<String> lastOwner() {
    return worker.or(words::worker);
  }

  /** It is nobody's, and not over: who had it before does not matter any more. */
  boolean isWaiting() {
    return !state.isLeased() && !state.isFinished();
  }

  /**
   * The agent that works on it, or did until its end. Somebody may have said since that it ended
   * otherwise, and then the engine's row no longer names the agent.
   */
  Optional<String> worksOnIt() {
    return isWaiting()
        ? Optional.empty()
        : worker.or(() -> words.worker.filter(agent -> words.fence == fence));
  }

  /** What was said is about the attempt that runs, or that ended the job. */
  boolean wordsCount() {
    return words.fence == fence
        && (state == JobState.RUNNING
            || state == JobState.STOPPING
            || (state.isFinished() && attemptOutcome.isPresent()));
  }
}
