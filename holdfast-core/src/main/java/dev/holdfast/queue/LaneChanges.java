package dev.holdfast.queue;

import dev.holdfast.audit.Act;
import dev.holdfast.job.Job;
import dev.holdfast.job.JobAct;
import java.util.Optional;
import java.util.UUID;
import java.util.function.UnaryOperator;
import org.jdbi.v3.core.Handle;

/**
 * Acts that put a job into another lane. The lane is found before the transaction, because it is
 * made on a connection of its own; so somebody else may have put the job into yet another one
 * meanwhile, and what he changed must not be undone.
 */
final class LaneChanges {

  private final ActTransaction transaction;
  private final JobReader reader;
  private final Lanes lanes;

  LaneChanges(ActTransaction transaction, JobReader reader, Lanes lanes) {
    this.transaction = transaction;
    this.reader = reader;
    this.lanes = lanes;
  }

  interface Step {
    void apply(Handle handle, Job job, long lane);
  }

  /** Its lane is no longer the one that the new one was found by. */
  private static final class Overtaken extends RuntimeException {
    private static final long serialVersionUID = 1L;

    Overtaken() {
      super("the job's lane has changed", null, false, false);
    }
  }

  Job perform(JobAct what, UUID id, Act act, UnaryOperator<Lane> change, Step step) {
    while (true) {
      try {
        return lanes.fitting(() -> performNow(what, id, act, change, step));
      } catch (Overtaken e) {
        // and so once more, from what it is now
      }
    }
  }

  private Job performNow(JobAct what, UUID id, Act act, UnaryOperator<Lane> change, Step step) {
    Lane old = reader.lane(id).orElseThrow(() -> Refusals.noSuchJob(id));
    long lane = lanes.idOf(change.apply(old));
    return transaction.perform(
        what,
        id,
        act,
        (handle, job) -> {
          if (!reader.lane(handle, id).equals(Optional.of(old))) {
            throw new Overtaken();
          }
          step.apply(handle, job, lane);
          return Optional.empty();
        });
  }
}
