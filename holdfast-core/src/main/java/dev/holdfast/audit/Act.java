package dev.holdfast.audit;

import dev.holdfast.job.Limits;
import java.util.Optional;

/** Who acts, and why. */
public record Act(String actor, Optional<String> reason) {

  public Act {
    Limits.name("actor", actor);
    reason = reason.map(text -> Limits.cut(text, Limits.ERROR_MESSAGE_CHARS));
  }

  public static Act by(String actor) {
    return new Act(actor, Optional.empty());
  }

  public Act because(String reason) {
    return new Act(actor, Optional.of(reason));
  }
}
