package dev.holdfast.lease;

import java.time.Duration;

/** How long workers could not renew their leases, as far as reapers can tell. */
@FunctionalInterface
public interface Steadiness {

  /**
   * To be asked once in every round of the reapers.
   *
   * @param serverUp since when the database can be reached at all
   */
  Absence measure(Duration serverUp);

  /** For how much of a time that ends now nobody could reach the database. */
  @FunctionalInterface
  interface Absence {

    Absence NONE = last -> Duration.ZERO;

    Duration within(Duration last);
  }
}
