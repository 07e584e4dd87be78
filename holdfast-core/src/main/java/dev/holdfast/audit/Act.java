package dev.holdfast.audit;

import dev.holdfast.job.JobState;
import dev.holdfast.job.Limits;
import java.util.Optional;
import java.util.Set;

/**
 * Who acts, and why.
 *
 * @param force also where it takes somebody to answer for it
 * @param states of the job in which it is meant; none is any in which it can be done
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
   * Whoever looked before, and decided by what there was, does not want it done to anything else.
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
