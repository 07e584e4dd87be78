package dev.holdfast.model;

import dev.holdfast.job.JobAct;
import dev.holdfast.model.Command.Do;
import dev.holdfast.model.ModelJob.Phase;
import dev.holdfast.model.ModelJob.Why;
import java.util.Optional;

/**
 * What people may do to a job in which state, and what comes of it. Written from the documents and
 * not from the engine's table: two who say the same independently are worth more than one.
 */
record ActRules(Model model, AttemptRules attempts) {

  boolean isAllowed(ModelJob job, JobAct act, boolean force) {
    boolean waits = job.phase == Phase.PENDING || job.phase == Phase.QUEUED;
    boolean standsStill = job.phase == Phase.PAUSED || job.phase == Phase.FAILED;
    // A finished job has given its key back; if another has it now, it cannot come back itself.
    boolean revives =
        job.isFinished() && (act == JobAct.RETRY || act == JobAct.RESUME || act == JobAct.REQUEUE);
    if (revives && model.unfinishedWith(job.spec.extras().uniqueKey()).isPresent()) {
      return false;
    }
    return switch (act) {
      case CANCEL -> !job.isFinished() || (force && job.phase != Phase.CANCELLED);
      case STOP -> !job.isFinished();
      case PAUSE -> waits || job.isLeased();
      case RESUME, RESOLVE -> standsStill;
      case RETRY -> job.phase == Phase.FAILED || job.phase == Phase.CANCELLED;
      case REQUEUE ->
          job.phase == Phase.PENDING
              || job.phase == Phase.DISPATCHED
              || (force && (job.isLeased() || job.isFinished()));
      case FAIL ->
          job.phase != Phase.FAILED && (force || (!job.isFinished() && job.phase != Phase.QUEUED));
      case CHANGE -> waits;
      // Its work may be going on, and what that holds must be somebody's.
      case DELETE -> job.isFinished() && !model.holdsAnything(job);
    };
  }

  /** Does what is allowed. */
  void perform(ModelJob job, Do act) {
    job.isActedOn = true;
    switch (act.act()) {
      case CANCEL -> {
        if (job.isLeased() && !act.force()) {
          askToStop(job, Optional.of(Phase.CANCELLED));
        } else {
          end(job, Phase.CANCELLED);
        }
      }
      case STOP -> stop(job);
      case PAUSE -> {
        if (job.isLeased()) {
          askToStop(job, Optional.of(Phase.PAUSED));
        } else {
          pause(job);
        }
      }
      case RESUME -> sendBackWithOneMore(job);
      case RETRY -> retry(job);
      case REQUEUE -> {
        if (job.isLeased()) {
          attempts.requeueByForce(job);
        } else if (job.isFinished()) {
          retry(job);
        } else {
          job.phase = Phase.QUEUED;
        }
      }
      case FAIL -> {
        end(job, Phase.FAILED);
        if (job.spec.holdsOnFailure()) {
          model.block(job);
        }
      }
      case RESOLVE -> {
        job.phase = Phase.SUCCEEDED;
        model.unblock(job);
        model.moveSubject(job, Model.ACTIVE);
      }
      case CHANGE -> {
        act.change().runInSeconds().ifPresent(in -> job.runAt = model.now() + in * 1_000L);
        act.change().priority().ifPresent(priority -> job.priority = priority);
      }
      case DELETE -> model.delete(job);
    }
  }

  /** Nobody began it in time. One that was begun, or paused, is left alone. */
  void expire(ModelJob job) {
    if (job.phase == Phase.QUEUED && !job.hasBegun()) {
      end(job, Phase.CANCELLED);
      job.why = Why.MISFIRE;
      model.actDone(JobAct.CANCEL.stored(), "scheduler", job);
    }
  }

  private static void askToStop(ModelJob job, Optional<Phase> as) {
    job.phase = Phase.STOPPING;
    boolean stays = // a cancellation, and what is over its limit can only be cancelled
        job.isToBeCancelled() || (job.isToBeFailed() && !as.equals(Optional.of(Phase.CANCELLED)));
    if (!stays) {
      job.stopAs = as;
    }
  }

  private void stop(ModelJob job) {
    if (job.isLeased()) {
      askToStop(job, Optional.empty());
    } else if (!job.spec.pausesOnStop()) {
      end(job, Phase.CANCELLED);
    } else if (job.phase != Phase.PAUSED) {
      pause(job);
    }
  }

  private void pause(ModelJob job) {
    job.phase = Phase.PAUSED;
    model.block(job);
  }

  private void end(ModelJob job, Phase phase) {
    if (job.isLeased()) {
      attempts.endByForce(job, phase);
      return;
    }
    job.phase = phase;
    job.why = Why.ANY;
    model.unblock(job);
    if (job.hasBegun()) {
      model.abandonSubject(job);
    }
  }

  private void retry(ModelJob job) {
    job.runAt = model.now();
    sendBackWithOneMore(job);
  }

  private void sendBackWithOneMore(ModelJob job) {
    job.phase = Phase.QUEUED;
    job.granted++;
    model.unblock(job);
  }
}
