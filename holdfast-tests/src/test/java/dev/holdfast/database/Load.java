package dev.holdfast.database;

import dev.holdfast.Holdfast;
import dev.holdfast.database.Witness.Attempt;
import dev.holdfast.error.ErrorCode;
import dev.holdfast.error.HoldfastException;
import dev.holdfast.job.JobIds;
import dev.holdfast.worker.JobContext;
import dev.holdfast.worker.Worker;
import java.sql.SQLException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.UUID;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.locks.LockSupport;
import javax.sql.DataSource;

/**
 * Producers and workers that live through whatever happens to their database, and tell the witness
 * of everything they were told. Close it when done.
 */
final class Load implements AutoCloseable {

  private static final int PRODUCERS = 3;
  private static final int CONCURRENCY = 8;
  private static final int MOST_AHEAD = 150;
  private static final Duration PAUSE = Duration.ofMillis(5);
  private static final Duration PATIENCE = Duration.ofMinutes(3);

  private final Witness witness;
  private final Blows blows;
  private final AtomicBoolean over = new AtomicBoolean();
  private final AtomicInteger number = new AtomicInteger();
  private final List<Thread> producers = new ArrayList<>();
  private final List<Worker> workers = new ArrayList<>();

  Load(Witness witness) {
    this.witness = witness;
    this.blows = new Blows(witness);
  }

  Blows blows() {
    return blows;
  }

  /** A worker and producers more, on connections of that one. */
  void start(Holdfast holdfast) {
    workers.add(
        holdfast
            .worker()
            .configure(config ->
                config
                    .withName("worker-" + workers.size())
                    .withConcurrency(CONCURRENCY)
                    .withDrainTimeout(Duration.ofSeconds(30)))
            .handle(Chore.KIND, this::work)
            .listen(witness)
            .start());
    for (int i = 0; i < PRODUCERS; i++) {
      producers.add(Thread.ofVirtual().start(() -> produce(holdfast)));
    }
  }

  private void produce(Holdfast holdfast) {
    while (!over.get()) {
      if (witness.enqueued() - witness.finished() > MOST_AHEAD) {
        LockSupport.parkNanos(PAUSE.toNanos());
        continue;
      }
      UUID id = JobIds.next();
      Chore chore = Chore.number(number.incrementAndGet());
      try {
        holdfast.jobs().enqueue(chore.job(id));
        witness.enqueued(id);
      } catch (HoldfastException e) {
        if (e.code() != ErrorCode.DATABASE) {
          witness.violated("an enqueue fails with " + e.code() + ": " + e);
        }
        LockSupport.parkNanos(PAUSE.toNanos()); // not acknowledged: it may be there, or not
      }
    }
  }

  private void work(Chore chore, JobContext job) throws InterruptedException {
    Attempt attempt = new Attempt(job.jobId(), job.fence());
    witness.started(attempt, chore.sites());
    if (chore.brief()) {
      blows.begun(attempt);
    }
    try {
      TimeUnit.MILLISECONDS.sleep(chore.millis());
      witness.acted(attempt);
    } finally {
      witness.ended(attempt);
      blows.over(attempt);
    }
  }

  /** Until so many more were acknowledged and finished; answers how long that took. */
  Duration goOn(int jobs) {
    long began = System.nanoTime();
    int enqueued = witness.enqueued() + jobs;
    int finished = witness.finished() + jobs;
    while (witness.enqueued() < enqueued || witness.finished() < finished) {
      if (System.nanoTime() - began > PATIENCE.toNanos()) {
        throw new AssertionError("nothing goes on; so far: " + witness.violations());
      }
      LockSupport.parkNanos(PAUSE.toNanos());
    }
    return Duration.ofNanos(System.nanoTime() - began);
  }

  /** No more jobs; all there are come to their end. */
  void drain(DataSource database) throws SQLException, InterruptedException {
    over.set(true);
    for (Thread producer : producers) {
      producer.join();
    }
    long began = System.nanoTime();
    while (witness.unfinished(database) > 0) {
      if (System.nanoTime() - began > PATIENCE.toNanos()) {
        throw new AssertionError(witness.unfinished(database) + " jobs do not end");
      }
      TimeUnit.MILLISECONDS.sleep(PAUSE.toMillis() * 20);
    }
  }

  @Override
  public void close() throws InterruptedException {
    over.set(true);
    for (Thread producer : producers) {
      producer.join();
    }
    workers.forEach(Worker::close);
  }
}
