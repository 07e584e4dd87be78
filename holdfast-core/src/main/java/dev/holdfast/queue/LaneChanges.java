package dev.holdfast.queue;

import dev.holdfast.audit.Act;
import dev.holdfast.job.Job;
import dev.holdfast.job.JobAct;
import java.util.Optional;
import java.util.UUID;
import java.util.function.UnaryOperator;
import org.jdbi.v3.core.Handle;

/**
 * Performs acts that move a job to another lane. The new lane is found before the transaction,
 * because a missing one is created on a connection of its own. Meanwhile another act may have moved
 * the job to a third lane; so that its change is not undone, the act begins again.
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

  /** The job's lane is no longer the one that the new lane was derived from. */
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
        // begin again with the lane it has now
      }
    }
  }

  private Job performNow(JobAct what, UUID id, Act act, UnaryOperator<Lane> change, Step step) {
    Lane old = reader.lane(id).orElseThrow(() -> Refusals.noSuchJob(id));
    // Looked at under the lock, too; but a refused act is to leave no lane behind.
    Job seen = reader.find(id).orElseThrow(() -> Refusals.noSuchJob(id));
    ActTransaction.refuseOutOfState(what, seen, act);
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
