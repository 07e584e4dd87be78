package dev.holdfast.audit;

import dev.holdfast.job.JobState;
import dev.holdfast.job.Limits;
import java.util.Optional;
import java.util.Set;

/**
 * Who acts, and why.
 *
 * @param force whether the act may also be done where the actor has to answer for it
 * @param states the states of the job in which the act is meant; empty is every state that allows
 *     it
 */
public record Act(String actor, Optional<String> reason, boolean force, Set<JobState> states) {

  public Act {
    Limits.name("actor", actor);
    reason = reason.map(text -> Limits.cut(text, Limits.ERROR_MESSAGE_CHARS));
    states = Set.copyOf(states);
  }

  public static Act by(String actor) {
    return new Act(actor, Optional.empty(), false, Set.of());
  }

  public Act because(String reason) {
    return new Act(actor, Optional.of(reason), force, states);
  }

  public Act withForce() {
    return new Act(actor, reason, true, states);
  }

  /**
   * The same act, refused if the job is in none of these states: for a caller that decided by a
   * state it has seen.
   */
  public Act onlyIn(Set<JobState> states) {
    return new Act(actor, reason, force, states);
  }

  public boolean isMeantIn(JobState state) {
    return states.isEmpty() || states.contains(state);
  }

  /** The reason, or who did it where none was given. */
  public String words(String done) {
    return reason.orElse(done + " by " + actor);
  }
}
