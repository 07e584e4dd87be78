package dev.holdfast.model;

import dev.holdfast.job.NewJob;
import dev.holdfast.job.Policy.OnFailure;
import dev.holdfast.job.Policy.OnLeaseLost;
import dev.holdfast.job.Policy.OnStop;
import dev.holdfast.job.PolicyOverrides;
import dev.holdfast.job.RetryPolicy;
import dev.holdfast.job.Subject;
import dev.holdfast.job.TimeLimit;
import dev.holdfast.model.Command.Enqueue;
import dev.holdfast.model.Command.Spec;
import java.time.Duration;
import java.util.List;
import java.util.Optional;

/** A job for the engine as the model knows it. */
final class JobFromSpec {

  /** What the engine says where the job says nothing. */
  static final int DEFAULT_TIMEOUT_SECONDS = 1_800;

  private static final String SUBJECT_TYPE = "site";

  private JobFromSpec() {}

  static NewJob job(Enqueue enqueue) {
    Spec spec = enqueue.spec();
    NewJob job =
        NewJob.of(spec.kind(), enqueue.job())
            .withPriority(spec.priority())
            .withDelay(Duration.ofSeconds(spec.delaySeconds()))
            .withResources(List.copyOf(spec.needs()))
            .withPolicy(policy(spec));
    job = spec.isPending() ? job.asPending() : job;
    if (spec.subject().isPresent()) {
      job = job.withSubject(Subject.of(SUBJECT_TYPE, spec.subject().get(), Model.DURING));
    }
    return job;
  }

  private static PolicyOverrides policy(Spec spec) {
    boolean isDefault = spec.timeoutSeconds().equals(Optional.of(DEFAULT_TIMEOUT_SECONDS));
    PolicyOverrides timeout =
        isDefault
            ? PolicyOverrides.NONE
            : PolicyOverrides.NONE.withTimeout(
                new TimeLimit(spec.timeoutSeconds().map(Duration::ofSeconds)));
    return timeout
        .withMaxAttempts(spec.maxAttempts())
        .withLeaseLength(Duration.ofSeconds(spec.leaseSeconds()))
        .withRetry(new RetryPolicy.Delays(List.of(Duration.ofSeconds(spec.retrySeconds()))))
        .withOnFailure(spec.holdsOnFailure() ? OnFailure.HOLD : OnFailure.RELEASE)
        .withOnStop(spec.pausesOnStop() ? OnStop.PAUSE : OnStop.CANCEL)
        .withOnLeaseLost(spec.failsWhenLost() ? OnLeaseLost.FAIL : OnLeaseLost.RETRY);
  }
}
