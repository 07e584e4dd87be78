package dev.holdfast.worker;

import dev.holdfast.lease.LeaseSource;
import dev.holdfast.loop.Loop;
import dev.holdfast.wake.Bell;
import java.util.List;

/**
 * What a worker stands on: where its leases come from, what wakes it, and what has to run beside
 * it.
 */
public record Surroundings(LeaseSource leases, Bell bell, List<Background> background) {

  public Surroundings {
    background = List.copyOf(background);
  }

  /** A loop that runs as long as the worker does. */
  public record Background(String name, Loop.Step step, AutoCloseable atEnd) {

    AutoCloseable start() {
      Loop loop = Loop.start(name, step);
      return () -> {
        loop.close();
        atEnd.close();
      };
    }
  }
}
