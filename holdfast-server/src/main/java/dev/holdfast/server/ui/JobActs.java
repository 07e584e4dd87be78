package dev.holdfast.server.ui;

import dev.holdfast.job.Job;
import dev.holdfast.job.JobAct;
import dev.holdfast.job.Policy.OnStop;
import dev.holdfast.server.api.Reserved;
import dev.holdfast.server.auth.Role;
import java.util.ArrayList;
import java.util.List;

/** The acts that a role may perform on a job in its current state; others are not offered. */
final class JobActs {

  /**
   * One act.
   *
   * @param force whether it must be forced in this state, on the person's own responsibility
   * @param asks what it needs besides a reason: a result, or a new time, priority or tags
   */
  record Offer(
      String act, String label, String effect, boolean danger, boolean force, String asks) {}

  private JobActs() {}

  static List<Offer> of(Job job, Role role) {
    List<Offer> offers = new ArrayList<>();
    for (JobAct act : JobAct.values()) {
      boolean plainly = act.isAllowed(job.state(), false);
      if (act.isAllowed(job.state(), true) && role.mayDo(needed(act, job))) {
        offers.add(
            new Offer(
                act.stored(),
                Say.words(act.stored()),
                effect(act, job),
                isDangerous(act),
                !plainly,
                asks(act)));
      }
    }
    return offers;
  }

  private static Role needed(JobAct act, Job job) {
    if (Reserved.is(job.queue())) {
      return Role.ADMIN;
    }
    return switch (act) {
      case CANCEL, DELETE -> Role.ADMIN;
      case STOP -> job.policy().onStop() == OnStop.CANCEL ? Role.ADMIN : Role.OPERATOR;
      case PAUSE, RESUME, RETRY, REQUEUE, FAIL, RESOLVE, CHANGE -> Role.OPERATOR;
    };
  }

  private static String asks(JobAct act) {
    return switch (act) {
      case RESOLVE -> "result";
      case CHANGE -> "change";
      case CANCEL, STOP, PAUSE, RESUME, RETRY, REQUEUE, FAIL, DELETE -> "";
    };
  }

  private static boolean isDangerous(JobAct act) {
    return switch (act) {
      case CANCEL, FAIL, DELETE -> true;
      case STOP, PAUSE, RESUME, RETRY, REQUEUE, RESOLVE, CHANGE -> false;
    };
  }

  private static String effect(JobAct act, Job job) {
    return switch (act) {
      case CANCEL ->
          job.state().isLeased()
              ? "Asks its worker to stop. What it did is not undone."
              : "It will not run. What it did is not undone.";
      case STOP ->
          "Lets it end as its own policy says: "
              + job.policy().onStop().name().toLowerCase(java.util.Locale.ROOT)
              + ".";
      case PAUSE -> "It waits, and its target with it, until somebody resumes it.";
      case RESUME -> "Back to the queue at its old place, with one more attempt.";
      case RETRY -> "Runs once more, now.";
      case REQUEUE -> "Back to the queue, whoever has it.";
      case FAIL -> "Counts as failed, on your word.";
      case RESOLVE -> "Counts as succeeded: somebody did by hand what it was to do.";
      case CHANGE -> "Another time, place in line, or tags.";
      case DELETE -> "Out of the history, with its attempts and its log, for good.";
    };
  }
}
