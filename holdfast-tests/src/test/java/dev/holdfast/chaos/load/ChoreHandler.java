package dev.holdfast.chaos.load;

import dev.holdfast.chaos.ledger.LedgerClient;
import dev.holdfast.error.ErrorCode;
import dev.holdfast.error.HoldfastException;
import dev.holdfast.job.Outcome;
import dev.holdfast.lease.FinishReply;
import dev.holdfast.lease.Lease;
import dev.holdfast.lease.LeaseKey;
import dev.holdfast.worker.Handler;
import dev.holdfast.worker.JobContext;
import dev.holdfast.worker.WorkerListener;
import java.time.Duration;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import org.jspecify.annotations.Nullable;

/** Does chores, and tells the ledger of each step and of each of Holdfast's answers. */
public final class ChoreHandler implements Handler<Chore>, WorkerListener {

  private static final int PIECE_MILLIS = 400;

  private final LedgerClient ledger;
  private final Map<LeaseKey, Outcome> outcomes = new ConcurrentHashMap<>();

  public ChoreHandler(LedgerClient ledger) {
    this.ledger = ledger;
  }

  @Override
  public Outcome handle(Chore chore, JobContext job) throws Exception {
    String grant = job.jobId() + " " + job.fence();
    if (!ledger.says(
        "start %s %d %d %s".formatted(job.jobId(), job.attempt(), job.fence(), chore.listed()))) {
      return inVain(chore, job);
    }
    try {
      work(chore, job);
    } catch (InterruptedException | RuntimeException e) {
      if (!chore.stubborn()) {
        ledger.says("end " + grant + " stopped");
        throw e;
      }
      if (job.shouldStop()) {
        ledger.says("told " + grant); // whatever it does from now on is on its own account
      }
    }
    if (job.attempt() <= chore.failures()) {
      ledger.says("end " + grant + " failed");
      throw new IllegalStateException("As it was told to");
    }
    if (!ledger.says("effect " + grant)) {
      ledger.says("end " + grant + " refused");
      return inVain(chore, job);
    }
    ledger.says("end " + grant + " done");
    return Outcome.succeeded();
  }

  private void work(Chore chore, JobContext job) throws InterruptedException {
    int left = chore.millis();
    while (left > PIECE_MILLIS) {
      Thread.sleep(PIECE_MILLIS);
      left -= PIECE_MILLIS;
      checkpoint(job, left + " ms left");
    }
    Thread.sleep(left);
  }

  // Another attempt has our place, so Holdfast must take neither what we write nor how we end, or
  // the
  // ledger's file will show.
  private Outcome inVain(Chore chore, JobContext job) {
    writeInVain(job);
    if (chore.stubborn()) {
      return Outcome.succeeded();
    }
    throw new IllegalStateException("The ledger refused it");
  }

  private void writeInVain(JobContext job) {
    try {
      checkpoint(job, "late");
    } catch (HoldfastException e) {
      if (e.code() != ErrorCode.LEASE_LOST) {
        throw e;
      }
    }
  }

  private void checkpoint(JobContext job, String cursor) {
    try {
      job.checkpoint(cursor);
      tellAnswer("took", job.jobId() + " " + job.fence() + " checkpoint");
    } catch (HoldfastException e) {
      if (e.code() == ErrorCode.LEASE_LOST) {
        tellAnswer("refused", job.jobId() + " " + job.fence() + " checkpoint");
      }
      throw e;
    }
  }

  @Override
  public void ended(Lease lease, Outcome outcome, Duration ran) {
    outcomes.put(lease.key(), outcome);
    lease
        .slot()
        .ifPresent(slot -> {
          var unused =
              ledger.tell(
                  "slot %s %d %s@%s"
                      .formatted(
                          lease.key().jobId(),
                          lease.key().fence(),
                          slot.schedule(),
                          slot.scheduledFor()));
        });
  }

  @Override
  public void finished(Lease lease, FinishReply reply) {
    String what = lease.key().jobId() + " " + lease.key().fence() + " finish";
    Outcome outcome = outcomes.remove(lease.key());
    switch (reply) {
      // Who says that he lost his lease writes nothing that the reaper has not written for him.
      case FinishReply.Recorded recorded when outcome instanceof Outcome.LeaseExpired ->
          tellAnswer("agreed", what);
      // What we said is told, and not what was made of it.
      case FinishReply.Recorded recorded -> tellAnswer("took", what + " " + word(outcome));
      case FinishReply.Lost lost -> tellAnswer("refused", what);
      case FinishReply.NotNow notNow -> {
        if (outcome != null) {
          outcomes.put(lease.key(), outcome); // it will be tried again
        }
        tellAnswer("postponed", what);
      }
    }
  }

  private static String word(@Nullable Outcome outcome) {
    return switch (outcome) {
      case Outcome.Succeeded succeeded -> "succeeded";
      case Outcome.Failed failed -> "failed";
      case null, default -> "other";
    };
  }

  private void tellAnswer(String answer, String what) {
    var unused = ledger.tell("holdfast-" + answer + " " + what);
  }
}
