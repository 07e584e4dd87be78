package dev.holdfast.job;

import dev.holdfast.error.HoldfastException;
import java.time.Duration;
import java.time.Instant;

/** When a job may start: a time after the database stored it, or at a given moment. */
public sealed interface When {

  When NOW = new After(Duration.ZERO);

  /** Counted by the database's clock from the moment of the enqueue. */
  record After(Duration delay) implements When {
    public After {
      if (delay.isNegative() || delay.compareTo(Duration.ofDays(3_660)) > 0) {
        throw HoldfastException.invalid("delay", delay, "0 to 3660 days");
      }
    }
  }

  record At(Instant instant) implements When {
    public At {
      Limits.moment("run_at", instant);
    }
  }
}
