package dev.holdfast.audit;

import dev.holdfast.job.Limits;
import java.util.Optional;

/**
 * Who acts, and why.
 *
 * @param force also where it takes somebody to answer for it
 */
public record Act(String actor, Optional<String> reason, boolean force) {

  public Act {
    Limits.name("actor", actor);
    reason = reason.map(text -> Limits.cut(text, Limits.ERROR_MESSAGE_CHARS));
  }

  public static Act by(String actor) {
    return new Act(actor, Optional.empty(), false);
  }

  public Act because(String reason) {
    return new Act(actor, Optional.of(reason), force);
  }

  public Act withForce() {
    return new Act(actor, reason, true);
  }

  /** The reason, or who did it where none was given. */
  public String words(String done) {
    return reason.orElse(done + " by " + actor);
  }
}
