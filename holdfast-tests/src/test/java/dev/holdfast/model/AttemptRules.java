package dev.holdfast.model;

import dev.holdfast.model.Command.How;
import dev.holdfast.model.ModelJob.By;
import dev.holdfast.model.ModelJob.Phase;
import dev.holdfast.model.ModelJob.Recorded;
import dev.holdfast.model.ModelJob.Why;
import java.util.Optional;

/** What becomes of a job when an attempt of it ends, by its worker's word or without it. */
record AttemptRules(Model model) {

  private static final long TIMEOUT_GRACE_MILLIS = 2_000;
  private static final String STOPPED = "stopped";

  /** The worker reports the end of the attempt with this fence, in time or not. */
  void finish(ModelJob job, long fence, How how) {
    model.release(job, fence);
    if (model.isCurrent(job, fence)) {
      end(job, how);
      settle(job, By.WORKER, Optional.of(how), outcome(how));
    }
  }

  private static String outcome(How how) {
    return switch (how) {
      case SUCCEEDED -> "succeeded";
      case FAILED, FAILED_FOR_GOOD -> "failed";
      case SNOOZED, SNOOZED_A_WHILE -> "snoozed";
      case RELEASED -> "released";
      case STOPPED -> STOPPED;
    };
  }

  private void end(ModelJob job, How how) {
    boolean stopping = job.phase == Phase.STOPPING;
    switch (how) {
      case SUCCEEDED -> {
        if (job.isToBeFailed()) { // too many tokens, however it ends
          stopped(job);
        } else {
          job.phase = Phase.SUCCEEDED;
        }
      }
      case FAILED_FOR_GOOD -> failOrStop(job);
      case FAILED -> {
        if (job.isLastAttempt()) {
          failOrStop(job);
        } else if (stopping) {
          stopped(job);
        } else {
          job.failures++;
          sendBack(job, job.spec.retrySeconds());
        }
      }
      case SNOOZED, SNOOZED_A_WHILE -> {
        if (stopping) {
          stopped(job);
        } else {
          job.attempt--;
          sendBack(job, how == How.SNOOZED ? 0 : Workers.A_WHILE_SECONDS);
        }
      }
      case RELEASED -> {
        if (job.spec.pausesOnStop() && !isDecided(job)) {
          job.attempt--;
          job.phase = Phase.PAUSED;
        } else if (stopping) {
          stopped(job);
        } else {
          job.attempt--;
          sendBack(job, 0);
        }
      }
      case STOPPED -> stopped(job);
    }
  }

  // Too many tokens are what it fails by, whatever its worker says.
  private static void failOrStop(ModelJob job) {
    if (job.isToBeFailed()) {
      stopped(job);
    } else {
      fail(job);
    }
  }

  private static void fail(ModelJob job) {
    job.why = Why.ANY;
    job.failures++;
    job.phase = Phase.FAILED;
  }

  private static void stopped(ModelJob job) {
    job.wasStopped = true;
    job.phase = job.stopAs.orElse(job.spec.pausesOnStop() ? Phase.PAUSED : Phase.CANCELLED);
    job.failures += job.phase == Phase.FAILED ? 1 : 0;
  }

  /** Somebody said what it is to end as, and it is not to be paused. */
  private static boolean isDecided(ModelJob job) {
    return job.stopAs.filter(as -> as != Phase.PAUSED).isPresent();
  }

  private void sendBack(ModelJob job, int seconds) {
    job.phase = Phase.QUEUED;
    job.runAt = seconds == 0 ? job.runAt : model.now() + seconds * 1_000L;
  }

  // Whoever asked for a stop that came about decides what the end is called, too.
  private void settle(ModelJob job, By by, Optional<How> saidByWorker, String otherwise) {
    String outcome = job.wasStopped ? STOPPED : otherwise;
    job.ends.put(job.fence, new Recorded(by, saidByWorker, job.phase, job.wasStopped, outcome));
    job.stopAs = Optional.empty();
    job.wasStopped = false;
    job.isActedOn = false;
    if (job.phase == Phase.PAUSED || (job.phase == Phase.FAILED && job.spec.holdsOnFailure())) {
      model.block(job);
    }
    // While a retry waits, or somebody is to decide, the work on the subject is not over.
    switch (job.phase) {
      case SUCCEEDED -> model.moveSubject(job, Model.ACTIVE);
      case FAILED -> {
        if (by == By.WORKER) {
          model.moveSubject(job, Model.FAILED);
        } else {
          model.abandonSubject(job);
        }
      }
      case CANCELLED -> model.abandonSubject(job);
      default -> {}
    }
  }

  void reap() {
    for (ModelJob job : model.jobs()) {
      if (job.isLeased() && ranTooLong(job)) {
        model.linger(job);
        fail(job); // what took too long once would again
        settle(job, By.REAPER, Optional.empty(), job.isToBeFailed() ? STOPPED : "failed");
      } else if (job.isLeased() && job.expiresAt < model.now()) {
        loseLease(job);
      }
    }
    model.passOn();
  }

  // Of an attempt whose worker was silent before its time was over nobody knows how long it ran.
  private boolean ranTooLong(ModelJob job) {
    return job.timesOutAt.isPresent()
        && job.timesOutAt.getAsLong() < model.now() - TIMEOUT_GRACE_MILLIS
        && job.timesOutAt.getAsLong() <= job.expiresAt;
  }

  private void loseLease(ModelJob job) {
    String outcome = job.phase == Phase.DISPATCHED ? "never_started" : "lost";
    model.linger(job);
    if (job.phase == Phase.STOPPING && (isDecided(job) || !job.spec.failsWhenLost())) {
      stopped(job);
    } else if (job.phase == Phase.DISPATCHED) { // it was never begun
      job.attempt--;
      sendBack(job, 0);
    } else if (job.spec.failsWhenLost() || job.isLastAttempt()) {
      fail(job);
      job.why = Why.LEASE_LOST;
    } else {
      job.failures++;
      sendBack(job, 0);
    }
    settle(job, By.REAPER, Optional.empty(), outcome);
  }

  /** Somebody ends it and does not wait for its worker. Costs the attempt, but is no failure. */
  void endByForce(ModelJob job, Phase phase) {
    model.linger(job);
    job.phase = phase;
    job.why = Why.ANY;
    settle(job, By.FORCE, Optional.empty(), "forced");
  }

  /** Somebody takes it from its worker, for another. The attempt was none. */
  void requeueByForce(ModelJob job) {
    model.linger(job);
    job.attempt--;
    sendBack(job, 0);
    settle(job, By.FORCE, Optional.empty(), "requeued");
  }
}
