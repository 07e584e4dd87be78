package dev.holdfast.queue;

/**
 * A queue as it is now.
 *
 * @param queued jobs that wait, also for their time or a resource; no more than {@link #MOST} are
 *     counted
 * @param running jobs that a worker has
 */
public record QueueState(String name, QueueSettings settings, long queued, long running) {

  /** Counting further would cost more than knowing is worth. */
  public static final int MOST = 10_000;
}
