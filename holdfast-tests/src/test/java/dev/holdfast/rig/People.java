package dev.holdfast.rig;

import dev.holdfast.audit.Act;
import dev.holdfast.error.ErrorCode;
import dev.holdfast.error.HoldfastException;
import dev.holdfast.job.JobAct;
import dev.holdfast.queue.Acts;
import dev.holdfast.queue.Changes;
import java.util.UUID;

/** Does what people do, by the name of the act. */
public record People(Acts acts) {

  public static final Act ADA = Act.by("ada");

  /** False when the job's state does not allow it. */
  public boolean perform(JobAct what, boolean force, UUID id, Changes changes) {
    Act who = force ? ADA.withForce() : ADA;
    try {
      switch (what) {
        case CANCEL -> acts.cancel(id, who);
        case STOP -> acts.stop(id, who);
        case PAUSE -> acts.pause(id, who);
        case RESUME -> acts.resume(id, who);
        case RETRY -> acts.retry(id, who);
        case REQUEUE -> acts.requeue(id, who);
        case FAIL -> acts.fail(id, who);
        case RESOLVE -> acts.resolve(id, 1, who);
        case CHANGE -> acts.change(id, changes, who);
        case DELETE -> acts.delete(id, who);
      }
      return true;
    } catch (HoldfastException e) {
      if (e.code() != ErrorCode.STATE_CONFLICT) {
        throw e;
      }
      return false;
    }
  }
}
