package dev.holdfast.job;

import java.util.Optional;

/**
 * A record of the application (a site, an environment) whose state follows the job's, in the same
 * transactions.
 *
 * @param during the state it is in while the job runs; if empty, the job leaves the subject alone
 */
public record Subject(String type, String id, Optional<String> during) {

  /** The state after a success. */
  public static final String ACTIVE = "active";

  /** The state after a final failure, or after the job was cancelled once an attempt had begun. */
  public static final String FAILED = "failed";

  public Subject {
    Limits.name("subject.type", type);
    Limits.name("subject.id", id);
    during.ifPresent(state -> Limits.name("subject.during", state));
  }

  public static Subject of(String type, String id, String during) {
    return new Subject(type, id, Optional.of(during));
  }
}
