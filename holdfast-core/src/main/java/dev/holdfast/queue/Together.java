package dev.holdfast.queue;

import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.locks.LockSupport;
import org.jspecify.annotations.Nullable;

/**
 * What many threads do at the same time, done by one of them for all: while it is at it, others
 * gather, and the next takes them along. Whoever comes alone does not wait, and nobody returns
 * before what it wanted is done. Thread-safe.
 */
final class Together<T> {

  private static final int MOST = 200;

  /** Does it for all of them or for none. */
  @FunctionalInterface
  interface Work<T> {
    void on(List<T> all) throws Exception;
  }

  /**
   * Why it failed.
   *
   * @param inCompany others' fault, maybe: what is wrong with one of them, or became of the thread
   *     that did it for all
   */
  record Failure(Exception reason, boolean inCompany) {}

  private static final class Waiting<T> {
    private final T wanted;
    private final Thread thread = Thread.currentThread();
    private @Nullable Failure failure; // published by isOver
    private volatile boolean isOver;

    Waiting(T wanted) {
      this.wanted = wanted;
    }

    void end(@Nullable Failure failed) {
      failure = failed;
      isOver = true;
      LockSupport.unpark(thread);
    }
  }

  private final Work<T> work;
  private final Queue<Waiting<T>> gathered = new ConcurrentLinkedQueue<>();
  private final AtomicBoolean atIt = new AtomicBoolean();

  Together(Work<T> work) {
    this.work = work;
  }

  /** Answers why it failed, if it did. Waits, interrupted or not: what is under way counts. */
  Optional<Failure> run(T wanted) {
    Waiting<T> mine = new Waiting<>(wanted);
    gathered.add(mine);
    boolean interrupted = false;
    while (!mine.isOver) {
      if (atIt.compareAndSet(false, true)) {
        try {
          takeTurn(mine);
        } finally {
          atIt.set(false);
          wakeNext();
        }
      } else {
        LockSupport.park(this); // whoever is at it wakes us when it is done, or our turn
        interrupted |= Thread.interrupted();
      }
    }
    if (interrupted) {
      Thread.currentThread().interrupt();
    }
    return Optional.ofNullable(mine.failure);
  }

  private void takeTurn(Waiting<T> mine) {
    if (mine.isOver) {
      return; // since we looked
    }
    List<Waiting<T>> all = new ArrayList<>();
    for (Waiting<T> next = gathered.poll(); next != null; next = gathered.poll()) {
      all.add(next);
      if (all.size() == MOST) {
        break;
      }
    }
    @Nullable Failure failure = failureOf(all);
    all.forEach(each -> each.end(failure));
  }

  private @Nullable Failure failureOf(List<Waiting<T>> all) {
    boolean inCompany = all.size() > 1;
    try {
      work.on(all.stream().map(each -> each.wanted).toList());
      return null;
    } catch (Exception e) {
      return new Failure(e, inCompany);
    } catch (Error e) { // those who wait must hear of it, too
      return new Failure(new IllegalStateException(e), inCompany);
    }
  }

  private void wakeNext() {
    Waiting<T> next = gathered.peek();
    if (next != null) {
      LockSupport.unpark(next.thread);
    }
  }
}
