package dev.holdfast.reap;

import java.time.Duration;

/** For how much of a given time up to now the database could not be reached. */
@FunctionalInterface
public interface Downtime {

  Downtime NONE = last -> Duration.ZERO;

  Duration within(Duration last);
}
