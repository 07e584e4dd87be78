package dev.holdfast.chaos.fleet;

import dev.holdfast.chaos.ledger.LedgerClient;
import dev.holdfast.chaos.load.Chore;
import java.time.Duration;
import java.util.Optional;

/**
 * One attempt at one job, by somebody who minds its lease: it says that it goes on while it works,
 * and stops when nobody heard. The ledger is told of each step and of each of Holdfast's answers.
 *
 * <p>Every report returns whether the server took it; empty when nobody knows.
 */
abstract class MindedAttempt {

  static final int LEASE_SECONDS = 3;

  private static final Duration MINE = Duration.ofMillis(2_400); // a fifth is for stopping
  private static final int PIECE_MILLIS = 400;
  private static final int TRIES = 5;

  /** What was given. */
  record Grant(String job, long fence, int attempt) {}

  private interface Report {
    Optional<Boolean> send() throws InterruptedException;
  }

  final Grant grant;
  final Chore chore;
  private final LedgerClient ledger;
  private long mineUntilNanos;

  MindedAttempt(LedgerClient ledger, Grant grant, Chore chore, long askedNanos) {
    this.ledger = ledger;
    this.grant = grant;
    this.chore = chore;
    this.mineUntilNanos = askedNanos + MINE.toNanos();
  }

  abstract Optional<Boolean> reportProgress(int leftMillis) throws InterruptedException;

  abstract Optional<Boolean> reportSuccess() throws InterruptedException;

  abstract Optional<Boolean> reportFailure() throws InterruptedException;

  /** Progress of an attempt that the ledger refused, so that Holdfast must refuse it, too. */
  abstract Optional<Boolean> reportProgressInVain() throws InterruptedException;

  /** The success of such a one. */
  abstract Optional<Boolean> reportSuccessInVain() throws InterruptedException;

  /** Whether it is still ours after what is to be said before the work, if anything. */
  boolean begins() throws InterruptedException {
    return true;
  }

  final void run() throws InterruptedException {
    if (!isMine()) {
      return; // the answers took too long
    }
    if (!says("start", "%d %d %s".formatted(grant.attempt, grant.fence, chore.listed()))) {
      writeInVain();
      return;
    }
    if (!work()) {
      if (!chore.stubborn()) {
        says("end", grant.fence + " late");
        return;
      }
      says("told", String.valueOf(grant.fence));
    }
    if (grant.attempt <= chore.failures()) {
      says("end", grant.fence + " failed");
      finish(this::reportFailure, "other");
    } else if (says("effect", String.valueOf(grant.fence))) {
      says("end", grant.fence + " done");
      finish(this::reportSuccess, "succeeded");
    } else {
      says("end", grant.fence + " refused");
      writeInVain();
    }
  }

  private boolean isMine() {
    return System.nanoTime() < mineUntilNanos;
  }

  /** Whether it stayed ours. */
  private boolean work() throws InterruptedException {
    if (!begins()) {
      return false;
    }
    for (int left = chore.millis(); left > 0; left -= PIECE_MILLIS) {
      Thread.sleep(Math.min(left, PIECE_MILLIS));
      if (left > PIECE_MILLIS && !goesOn(left)) {
        return false;
      }
    }
    return isMine();
  }

  final boolean goesOn(int leftMillis) throws InterruptedException {
    long askedNanos = System.nanoTime();
    Optional<Boolean> taken = reportProgress(leftMillis);
    if (taken.isPresent()) {
      tellAnswer(taken.get(), "checkpoint");
      mineUntilNanos = taken.get() ? askedNanos + MINE.toNanos() : askedNanos;
    }
    return isMine();
  }

  private void writeInVain() throws InterruptedException {
    reportProgressInVain().ifPresent(taken -> tellAnswer(taken, "checkpoint"));
    finish(this::reportSuccessInVain, "succeeded");
  }

  private void finish(Report end, String how) throws InterruptedException {
    for (int i = 0; i < TRIES; i++) {
      Optional<Boolean> taken = end.send();
      if (taken.isPresent()) {
        tellAnswer(taken.get(), "finish " + how);
        return;
      }
      Hands.pause();
    }
  }

  private boolean says(String verb, String more) {
    return ledger.says("%s %s %s".formatted(verb, grant.job, more));
  }

  private void tellAnswer(boolean taken, String what) {
    var unused =
        ledger.tell(
            "holdfast-%s %s %d %s"
                .formatted(taken ? "took" : "refused", grant.job, grant.fence, what));
  }
}
