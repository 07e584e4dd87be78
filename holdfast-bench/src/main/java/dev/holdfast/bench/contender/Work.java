package dev.holdfast.bench.contender;

import java.time.Duration;

/** What a worker runs, and what it tells meanwhile. Thread-safe: workers call it from anywhere. */
public interface Work {

  /** The job itself. */
  void run(int number);

  /** After a claim, before its jobs are run or while they are; {@code jobs} may be 0. */
  default void claimed(int jobs, Duration took) {}

  /** After the ends of so many jobs were committed. */
  default void finished(int jobs) {}
}
