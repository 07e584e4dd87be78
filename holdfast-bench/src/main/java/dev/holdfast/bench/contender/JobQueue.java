package dev.holdfast.bench.contender;

import java.util.List;
import java.util.function.IntFunction;

/**
 * A contender's queue in one database. Jobs are numbered from 0, carry their number as payload and
 * do nothing. Thread-safe.
 */
public interface JobQueue extends AutoCloseable {

  /** Fillings are numbered from here, so that nobody takes them for the jobs to be run. */
  int FIRST_FILLING = 1_000_000_000;

  /** One job in one durable commit of its own. */
  void enqueue(int number);

  /** Like {@link #enqueue}, from what the worker takes for another process. */
  void enqueueElsewhere(int number);

  /** Jobs {@code from} to {@code from + count - 1}, the fastest way there is. */
  void enqueueAll(int from, int count);

  /** The same with keys, of which each belongs to one running job at a time. */
  default void enqueueAll(int from, int count, IntFunction<List<String>> keysOf) {
    throw withoutKeys();
  }

  /** Runs a job on each of these keys until closed; answers when all of them run. */
  default AutoCloseable hold(List<String> keys) {
    throw withoutKeys();
  }

  /** Jobs that were found to need a key somebody has, and are out of the way until it is free. */
  default long parked() {
    throw withoutKeys();
  }

  /** Puts jobs there that are not to be run, or not yet; as {@link Contender#canFill} says. */
  void fill(Backlog backlog, int jobs);

  /** Starts a worker, which works until closed. */
  AutoCloseable work(Work work);

  /** Jobs that are still to be run or recorded, fillings included. */
  long unfinished();

  @Override
  void close();

  private static UnsupportedOperationException withoutKeys() {
    return new UnsupportedOperationException("a contender that does not know keys");
  }
}
