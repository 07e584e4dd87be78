package dev.holdfast.worker;

import dev.holdfast.lease.LeaseSource;
import dev.holdfast.loop.Loop;
import dev.holdfast.wake.Bell;
import java.util.List;
import java.util.function.BooleanSupplier;

/**
 * What a worker stands on.
 *
 * @param leases where its leases come from
 * @param heartbeat the same leases by a way of their own, so that beats never wait behind claims
 * @param bell wakes it
 * @param background what runs beside it, as long as it is started
 * @param draining whether somebody asked it to take nothing more
 */
public record WorkerDependencies(
    LeaseSource leases,
    LeaseSource heartbeat,
    Bell bell,
    List<Background> background,
    BooleanSupplier draining) {

  public WorkerDependencies {
    background = List.copyOf(background);
  }

  /** Where whoever gives out leases knows who is to have none. */
  public WorkerDependencies(
      LeaseSource leases, LeaseSource heartbeat, Bell bell, List<Background> background) {
    this(leases, heartbeat, bell, background, () -> false);
  }

  /** Something that runs as long as the worker does. */
  @FunctionalInterface
  public interface Background {

    /** What ends it again. */
    AutoCloseable start();
  }

  /** A loop, with what comes before and after. */
  public record Looping(String name, Loop.Step step, Runnable atStart, AutoCloseable atEnd)
      implements Background {

    public Looping(String name, Loop.Step step, AutoCloseable atEnd) {
      this(name, step, () -> {}, atEnd);
    }

    @Override
    public AutoCloseable start() {
      try {
        atStart.run();
      } catch (RuntimeException e) { // what it had begun would be left open
        closeAfter(e);
        throw e;
      }
      Loop loop = Loop.start(name, step);
      return () -> {
        loop.close();
        atEnd.close();
      };
    }

    private void closeAfter(RuntimeException why) {
      try {
        atEnd.close();
      } catch (Exception e) {
        why.addSuppressed(e);
      }
    }
  }
}
