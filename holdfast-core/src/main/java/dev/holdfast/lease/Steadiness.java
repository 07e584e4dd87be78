package dev.holdfast.lease;

import java.time.Duration;

/** Measures how long workers could not renew their leases, as far as reapers can tell. */
@FunctionalInterface
public interface Steadiness {

  /**
   * Called once in every round of the reapers.
   *
   * @param serverUp how long the database server has been running
   */
  Absence measure(Duration serverUp);

  /** For how much of a given time up to now the database could not be reached. */
  @FunctionalInterface
  interface Absence {

    Absence NONE = last -> Duration.ZERO;

    Duration within(Duration last);
  }
}
