package dev.holdfast.worker;

import dev.holdfast.lease.Finish;
import dev.holdfast.lease.FinishReply;
import dev.holdfast.lease.LeaseSource;
import dev.holdfast.loop.Loop;
import dev.holdfast.loop.Pace;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.ArrayBlockingQueue;
import java.util.concurrent.BlockingQueue;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Records ended attempts in batches: whatever has gathered while the last batch was being written.
 * When it falls behind, its queue fills, handlers' threads wait to hand over, their permits stay
 * taken, and so claims stop first. An end that cannot be written now is kept and tried again,
 * however long it takes: its fence is good until the reaper or an operator has ended the attempt.
 * While too many ends are kept, no more are taken from the queue.
 *
 * <p>Any thread may call {@link #add}: handlers' threads do, and the claim loop's where no thread
 * can be started for a handler. All rounds belong to one thread: the loop's and, after its end, the
 * closer's; or that of whoever calls {@link Worker#runDue} on a worker that was not started.
 */
final class Finisher implements Loop.Step {

  private static final Logger log = LoggerFactory.getLogger(Finisher.class);

  // Batches twice as large would cost each end a little less, but keep the claimer waiting for
  // permits.
  private static final int MOST_PER_BATCH = 250;
  private static final int MOST_WAITING = 2_000;
  private static final Duration IDLE = Duration.ofSeconds(10);
  private static final Duration POSTPONED = Duration.ofSeconds(1);
  private static final int LAST_ROUNDS = 20;

  private final LeaseSource leases;
  private final InFlight inFlight;
  private final WorkerListener listener;
  private final BlockingQueue<Finish> handedOver = new ArrayBlockingQueue<>(MOST_WAITING);
  private List<Finish> batch = new ArrayList<>();
  private final List<Finish> postponed = new ArrayList<>();
  private long againAtNanos = System.nanoTime();
  private final Pace pace = new Pace();
  private volatile Runnable whenAdded = () -> {};

  Finisher(LeaseSource leases, InFlight inFlight, WorkerListener listener) {
    this.leases = leases;
    this.inFlight = inFlight;
    this.listener = listener;
  }

  void onAdded(Runnable wake) {
    whenAdded = wake;
  }

  /** Waits while the queue is full. */
  void add(Finish finish) {
    boolean interrupted = false;
    while (true) {
      try {
        handedOver.put(finish);
        break;
      } catch (InterruptedException e) {
        interrupted = true; // an ended attempt is never dropped
      }
    }
    if (interrupted) {
      Thread.currentThread().interrupt();
    }
    whenAdded.run();
  }

  @Override
  public Duration runOnce() {
    if (handedOver.size() < MOST_PER_BATCH) {
      pace.begin();
    }
    if (batch.isEmpty() && System.nanoTime() - againAtNanos >= 0) {
      batch.addAll(postponed);
      postponed.clear();
    }
    if (takesMore()) {
      handedOver.drainTo(batch, Math.max(0, MOST_PER_BATCH - batch.size()));
    }
    if (batch.isEmpty()) {
      return postponed.isEmpty() ? IDLE : POSTPONED;
    }
    // Throws when the database is away; the batch stays for the next round.
    List<FinishReply> replies = leases.finish(batch);
    pace.end();
    List<Finish> written = batch;
    batch = new ArrayList<>();
    for (int i = 0; i < written.size(); i++) {
      settle(written.get(i), replies.get(i));
    }
    if (!handedOver.isEmpty() && takesMore()) {
      return Duration.ZERO;
    }
    return postponed.isEmpty() ? IDLE : POSTPONED;
  }

  private boolean takesMore() {
    return postponed.size() < MOST_WAITING;
  }

  /**
   * Writes what came in while the loop was ending, and tries once more what could not be written.
   */
  void flush() {
    batch.addAll(postponed);
    postponed.clear();
    for (int round = 0;
        round < LAST_ROUNDS && !(handedOver.isEmpty() && batch.isEmpty());
        round++) {
      Duration unused = runOnce();
    }
  }

  private void settle(Finish finish, FinishReply reply) {
    if (reply instanceof FinishReply.NotNow) {
      postponed.add(finish);
      againAtNanos = System.nanoTime() + POSTPONED.toNanos();
      return;
    }
    if (reply instanceof FinishReply.Lost) {
      log.debug("Lease of job {} lost before its end was recorded", finish.lease().key().jobId());
      listener.leaseLost(finish.lease());
    }
    inFlight.remove(finish.lease().key());
    listener.finished(finish.lease(), reply);
  }
}
