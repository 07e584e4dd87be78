package dev.holdfast.worker;

import dev.holdfast.job.Causes;
import dev.holdfast.job.Failure;
import dev.holdfast.job.Outcome;
import java.time.Duration;
import java.util.Optional;

/**
 * An outcome that a handler throws from where it cannot return one. It also counts as the cause of
 * another exception, because libraries wrap what passes through them.
 */
public final class OutcomeException extends RuntimeException {

  private static final long serialVersionUID = 1L;

  // A chain of causes may lead back to its beginning.
  private static final int MOST_CAUSES = 20;

  private final transient Outcome outcome;

  private OutcomeException(String message, Outcome outcome) {
    super(message);
    this.outcome = outcome;
  }

  /** The attempt has failed, with a code of your own; retried or not, as the failure says. */
  public static OutcomeException failed(Failure failure) {
    return new OutcomeException(failure.code() + ": " + failure.message(), Outcome.failed(failure));
  }

  /** Not now: try again later. Costs no attempt. */
  public static OutcomeException snoozed(Duration delay) {
    return new OutcomeException("snoozed for " + delay, Outcome.snoozed(delay));
  }

  /** The outcome that this exception carries, itself or as a cause. */
  static Optional<Outcome> saidBy(Throwable thrown) {
    return Causes.first(OutcomeException.class, thrown, MOST_CAUSES).map(said -> said.outcome);
  }
}
