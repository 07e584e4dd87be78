package dev.holdfast.model;

import dev.holdfast.model.Command.How;
import dev.holdfast.model.Command.Tell;
import dev.holdfast.model.ModelJob.Phase;
import java.util.Optional;

/** What becomes of what a worker reports on the way. */
record ReportRules(Model model, AttemptRules attempts, Tally tally) {

  enum Answer {
    STORED,
    REPEATED,
    LOST
  }

  /** Lets the model hear it; answers what the worker must be told. */
  Answer tell(ModelJob job, long fence, Tell told) {
    if (told.key().filter(job.keys::contains).isPresent()) {
      return Answer.REPEATED;
    }
    if (!model.isCurrent(job, fence) || !job.runs()) {
      return Answer.LOST;
    }
    told.key().ifPresent(job.keys::add);
    for (String item : told.items()) {
      job.results += job.items.add(item) ? 1 : 0;
    }
    job.tokens += told.tokens();
    Optional<Integer> limit = job.spec.extras().tokenLimit();
    if (told.tokens() > 0 && limit.filter(most -> job.tokens > most).isPresent()) {
      if (job.isToBeCancelled()) {
        tally.count("tokens over the limit of the cancelled");
      } else {
        job.phase = Phase.STOPPING;
        job.stopAs = Optional.of(Phase.FAILED);
      }
    }
    if (job.spec.extras().targetCount().filter(count -> job.results >= count).isPresent()) {
      attempts.finish(job, fence, How.SUCCEEDED);
    }
    return Answer.STORED;
  }
}
