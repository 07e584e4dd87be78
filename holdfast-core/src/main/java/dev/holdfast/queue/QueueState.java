package dev.holdfast.queue;

/**
 * A queue as it is now.
 *
 * @param queued jobs that wait, also for their time or a resource; no more than {@link #MOST} are
 *     counted
 * @param running jobs that are leased to a worker
 */
public record QueueState(String name, QueueSettings settings, long queued, long running) {

  /** How far waiting jobs are counted: a larger number is not worth the cost of counting. */
  public static final int MOST = 10_000;
}
