package dev.holdfast.worker;

import dev.holdfast.lease.LeaseSource;
import dev.holdfast.loop.Loop;
import dev.holdfast.wake.Bell;
import java.util.List;
import java.util.function.BooleanSupplier;

/**
 * What a worker depends on.
 *
 * @param leases where its leases come from
 * @param heartbeat the same leases over a connection of their own, so that beats never wait behind
 *     claims
 * @param bell wakes the worker when there may be work
 * @param background tasks that run as long as the worker is started
 * @param draining whether the worker is to take no more jobs for now, as an operator may ask
 * @param idle where the worker notes whether it has permits left over
 */
public record WorkerDependencies(
    LeaseSource leases,
    LeaseSource heartbeat,
    Bell bell,
    List<Background> background,
    BooleanSupplier draining,
    Idle idle) {

  public WorkerDependencies {
    background = List.copyOf(background);
  }

  /** For lease sources that know themselves which workers are to get no more jobs. */
  public WorkerDependencies(
      LeaseSource leases, LeaseSource heartbeat, Bell bell, List<Background> background) {
    this(leases, heartbeat, bell, background, () -> false, new Idle());
  }

  /** Provides what a worker with this configuration depends on. */
  @FunctionalInterface
  public interface Source {
    WorkerDependencies of(WorkerConfig config, ServedKinds kinds, WorkerListener listener);
  }

  /** A task that runs as long as the worker does. */
  @FunctionalInterface
  public interface Background {

    /** Starts the task; closing what this returns ends it. */
    AutoCloseable start();
  }

  /** A loop, with an action before its start and one after its end. */
  public record Looping(String name, Loop.Step step, Runnable atStart, AutoCloseable atEnd)
      implements Background {

    public Looping(String name, Loop.Step step, AutoCloseable atEnd) {
      this(name, step, () -> {}, atEnd);
    }

    @Override
    public AutoCloseable start() {
      try {
        atStart.run();
      } catch (RuntimeException e) { // what it had opened would stay open
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
