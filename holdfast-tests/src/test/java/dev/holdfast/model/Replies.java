package dev.holdfast.model;

import dev.holdfast.lease.FinishReply;
import dev.holdfast.model.Command.How;
import dev.holdfast.model.ModelJob.By;
import dev.holdfast.model.ModelJob.Phase;
import dev.holdfast.model.ModelJob.Recorded;
import java.util.Optional;

/** Whether a worker that reports the end of an attempt gets the right answer. */
record Replies(Model model, AttemptRules attempts, Tally tally) {

  /** Lets the model take the report, and answers what is wrong with the engine's reply. */
  Optional<String> check(ModelJob job, long fence, How how, FinishReply reply) {
    boolean isCurrent = model.isCurrent(job, fence);
    if (isCurrent && how == How.SUCCEEDED && job.isToBeFailed()) {
      tally.count("successes over the token limit");
    }
    Optional<Recorded> earlier = Optional.ofNullable(job.ends.get(fence));
    attempts.finish(job, fence, how);
    Optional<Phase> answered =
        reply instanceof FinishReply.Recorded recorded
            ? Optional.of(Phase.valueOf(recorded.state().name()))
            : Optional.empty();
    if (isCurrent) {
      return unless(answered.equals(Optional.of(job.phase)), job, how, answered, job.phase);
    }
    if (earlier.isEmpty()) {
      return unless(answered.isEmpty(), job, how, answered, "lost");
    }
    Recorded first = earlier.get();
    if (first.by() == By.FORCE) {
      tally.count("robbed refused");
      return unless(answered.isEmpty(), job, how, answered, first);
    }
    if (first.saidByWorker().equals(Optional.of(how))) {
      tally.count("ends repeated");
      return unless(isSame(answered, job, fence, first), job, how, answered, first);
    }
    if (first.by() == By.REAPER) {
      // Asked to stop, it did; that the reaper said so first makes no difference.
      boolean agrees = isStop(first) && (how != How.SUCCEEDED || first.phase() == Phase.FAILED);
      tally.count(agrees ? "zombies that stopped" : "zombies refused");
      boolean right = agrees ? isSame(answered, job, fence, first) : answered.isEmpty();
      return unless(right, job, how, answered, first);
    }
    return Optional.empty(); // a worker that says two things about one attempt
  }

  // What a stop made of the job, its history does not say: once people have sent it elsewhere, the
  // answer is where it is now.
  private static boolean isSame(
      Optional<Phase> answered, ModelJob job, long fence, Recorded first) {
    boolean wentOn = isStop(first) && !job.isAsLeftBy(fence);
    return wentOn ? answered.isPresent() : answered.equals(Optional.of(first.phase()));
  }

  private static boolean isStop(Recorded end) {
    return end.outcome().equals("stopped");
  }

  private static Optional<String> unless(
      boolean right, ModelJob job, How how, Optional<Phase> answered, Object expected) {
    return right
        ? Optional.empty()
        : Optional.of(
            "%s reported %s: answered %s instead of %s".formatted(job, how, answered, expected));
  }
}
