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
import dev.holdfast.model.Command.Plan;
import dev.holdfast.model.Command.Spec;
import dev.holdfast.schedule.Schedule;
import dev.holdfast.schedule.Trigger;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.UUID;

/** A job for the engine as the model knows it. */
final class JobFromSpec {

  /** What the engine says where the job says nothing. */
  static final int DEFAULT_TIMEOUT_SECONDS = 1_800;

  private static final String SUBJECT_TYPE = "site";

  private JobFromSpec() {}

  static NewJob job(Enqueue enqueue) {
    Spec spec = enqueue.spec();
    NewJob job = plain(spec).withDelay(Duration.ofSeconds(spec.delaySeconds()));
    job = spec.isPending() ? job.asPending() : job;
    job = spec.extras().hasId() ? job.withId(id(enqueue.job())) : job;
    if (spec.extras().uniqueKey().isPresent()) {
      job = job.withUniqueKey(spec.extras().uniqueKey().get());
    }
    if (spec.subject().isPresent()) {
      job = job.withSubject(Subject.of(SUBJECT_TYPE, spec.subject().get(), Model.DURING));
    }
    return job;
  }

  private static NewJob plain(Spec spec) {
    return NewJob.of(spec.kind(), 1)
        .withQueue(spec.extras().queue())
        .withPriority(spec.priority())
        .withResources(List.copyOf(spec.needs()))
        .withPolicy(policy(spec));
  }

  /** The id of a job that is given one; in another tenant, another job has it, too. */
  static UUID id(int number) {
    return new UUID(0x1000L, 0x8000000000000000L + number);
  }

  static Schedule schedule(Plan plan) {
    return Schedule.of(
            plan.name(),
            Trigger.cron("*/%d * * * * *".formatted(plan.everySeconds())),
            plain(plan.job()))
        .withCoalesce(plan.coalesces())
        .withMisfireGrace(Duration.ofSeconds(plan.graceSeconds()))
        .withMaxInstances(plan.maxInstances())
        .withExpectedRuntime(Duration.ofSeconds(plan.expectedSeconds()))
        .withEnabled(plan.enabled());
  }

  private static PolicyOverrides policy(Spec spec) {
    boolean isDefault = spec.timeoutSeconds().equals(Optional.of(DEFAULT_TIMEOUT_SECONDS));
    PolicyOverrides timeout =
        isDefault
            ? PolicyOverrides.NONE
            : PolicyOverrides.NONE.withTimeout(
                new TimeLimit(spec.timeoutSeconds().map(Duration::ofSeconds)));
    PolicyOverrides counted =
        spec.extras().tokenLimit().map(timeout::withTokenLimit).orElse(timeout);
    return spec.extras()
        .targetCount()
        .map(counted::withTargetCount)
        .orElse(counted)
        .withMaxAttempts(spec.maxAttempts())
        .withLeaseLength(Duration.ofSeconds(spec.leaseSeconds()))
        .withRetry(new RetryPolicy.Delays(List.of(Duration.ofSeconds(spec.retrySeconds()))))
        .withOnFailure(spec.holdsOnFailure() ? OnFailure.HOLD : OnFailure.RELEASE)
        .withOnStop(spec.pausesOnStop() ? OnStop.PAUSE : OnStop.CANCEL)
        .withOnLeaseLost(spec.failsWhenLost() ? OnLeaseLost.FAIL : OnLeaseLost.RETRY);
  }
}
