package dev.holdfast.cli;

import dev.holdfast.error.ErrorCode;
import dev.holdfast.error.HoldfastException;
import dev.holdfast.job.Job;
import java.time.Duration;
import java.util.Optional;
import java.util.UUID;

/**
 * Follows a job to its end. The job goes on whether or not its server can be asked, so a question
 * without an answer is asked again for a while.
 */
final class Following {

  private static final Duration PATIENCE = Duration.ofMinutes(1);

  private final UUID id;
  private final JobLog log;
  private final Duration pause;
  private final Duration patience;
  private long answeredNanos = System.nanoTime();

  Following(UUID id, JobLog log, Duration pause) {
    this(id, log, pause, PATIENCE);
  }

  Following(UUID id, JobLog log, Duration pause, Duration patience) {
    this.id = id;
    this.log = log;
    this.pause = pause;
    this.patience = patience;
  }

  /** Prints its log as it grows. Returns the job as it ended, whether or not anybody reads. */
  Job toTheEnd() throws InterruptedException {
    Optional<Job> ended = look();
    while (ended.isEmpty()) {
      Thread.sleep(pause);
      ended = look();
    }
    return ended.get();
  }

  /** Prints its log as it grows, until the job is over or nobody reads any more. */
  void whileRead() throws InterruptedException {
    while (look().isEmpty() && log.isRead()) {
      Thread.sleep(pause);
    }
  }

  /** The job, if it is over. */
  private Optional<Job> look() {
    try {
      Job job = log.printNew(); // the job as it was before the lines that are printed
      answeredNanos = System.nanoTime();
      return Optional.of(job).filter(known -> known.state().isFinished());
    } catch (HoldfastException e) {
      boolean mayPass = e.code() == ErrorCode.UNAVAILABLE || e.code() == ErrorCode.DATABASE;
      if (!mayPass) {
        throw e;
      }
      if (System.nanoTime() - answeredNanos >= patience.toNanos()) {
        String goesOn =
            "; job %s goes on; to follow it: holdfast jobs logs -f %s".formatted(id, id);
        throw new HoldfastException(e.code(), e.getMessage() + goesOn, e);
      }
      return Optional.empty();
    }
  }
}
