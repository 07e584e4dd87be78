package dev.holdfast.server.dialect.agents;

import dev.holdfast.job.JobState;
import java.util.Arrays;
import java.util.EnumSet;
import java.util.Locale;
import java.util.Optional;
import java.util.Set;

/**
 * A job's status in the agents' own words. The table below is the only list of moves that an agent
 * can report; people, with force, can do more.
 */
enum AgentStatus {
  LAUNCHING,
  QUEUED,
  DISPATCHED,
  RUNNING,
  STOP_REQUESTED,
  STOPPED,
  FINISHED,
  FAILED,
  CANCELED;

  /** What becomes of a report. */
  enum Verdict {
    /** It is what everybody knows; only that its agent is alive is news. */
    REPEATED,
    /** The job moves. */
    MOVES,
    /** There is no such move. */
    REFUSED
  }

  private final String word = name().toLowerCase(Locale.ROOT);

  /** The table: what a job in this status can be reported to become. */
  Set<AgentStatus> next() {
    return switch (this) {
      case LAUNCHING -> EnumSet.of(QUEUED, RUNNING, CANCELED);
      case QUEUED -> EnumSet.of(DISPATCHED, CANCELED);
      case DISPATCHED -> EnumSet.of(RUNNING, FAILED, CANCELED, STOP_REQUESTED, QUEUED);
      case RUNNING -> EnumSet.of(FINISHED, FAILED, STOP_REQUESTED, STOPPED, CANCELED);
      case STOP_REQUESTED -> EnumSet.of(STOPPED, FAILED, CANCELED);
      case STOPPED, FINISHED, FAILED, CANCELED -> EnumSet.noneOf(AgentStatus.class);
    };
  }

  Verdict hears(AgentStatus said) {
    if (said == this) {
      return Verdict.REPEATED;
    }
    return next().contains(said) ? Verdict.MOVES : Verdict.REFUSED;
  }

  boolean isTerminal() {
    return next().isEmpty();
  }

  /** As it stands in files and on the wire. */
  String word() {
    return word;
  }

  static Optional<AgentStatus> named(String word) {
    return Arrays.stream(values()).filter(status -> status.word.equals(word)).findFirst();
  }

  /**
   * The engine's state, in these words.
   *
   * @param stopped its worker said that it stopped
   */
  static AgentStatus of(JobState state, boolean stopped) {
    return switch (state) {
      case PENDING, PAUSED -> LAUNCHING; // nobody is offered it
      case QUEUED -> QUEUED;
      case DISPATCHED -> DISPATCHED;
      case RUNNING -> RUNNING;
      case STOPPING -> STOP_REQUESTED;
      case SUCCEEDED -> FINISHED;
      case FAILED -> FAILED;
      case CANCELLED -> stopped ? STOPPED : CANCELED;
    };
  }
}
