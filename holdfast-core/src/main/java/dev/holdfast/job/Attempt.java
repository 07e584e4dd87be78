package dev.holdfast.job;

/**
 * One execution of a job, as its policy sees it.
 *
 * @param number counts from 1; attempts that were given back are not counted
 * @param earlierFailures attempts before this one that failed or whose worker fell silent
 * @param granted attempts that operators granted on top of the policy's
 */
public record Attempt(int number, int earlierFailures, int granted) {

  public Attempt {
    if (number < 1 || earlierFailures < 0 || granted < 0) {
      throw new IllegalArgumentException(
          "attempt " + number + " after " + earlierFailures + " failures, " + granted + " granted");
    }
  }

  /** Whether no attempts are left after this one. */
  public boolean isLastOf(Policy policy) {
    return number >= policy.maxAttempts() + granted;
  }
}
