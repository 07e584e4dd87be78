package dev.holdfast.job;

import java.util.Optional;

/**
 * A record of the application's world (a site, an environment) whose state follows the job's, in
 * the same transactions.
 *
 * @param during the state it is in while the job runs; without one the job leaves it alone
 */
public record Subject(String type, String id, Optional<String> during) {

  /** Where it is after a success. */
  public static final String ACTIVE = "active";

  /** Where it is after a final failure, or when the job was cancelled while it ran. */
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
