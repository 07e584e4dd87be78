package dev.holdfast.schedule;

import dev.holdfast.error.HoldfastException;
import dev.holdfast.job.JobState;
import dev.holdfast.job.Limits;
import dev.holdfast.job.Needs;
import dev.holdfast.job.NewJob;
import dev.holdfast.job.Placement;
import dev.holdfast.job.Policy.OnLeaseLost;
import dev.holdfast.job.PolicyOverrides;
import dev.holdfast.job.SlotKey;
import dev.holdfast.job.TimeLimit;
import dev.holdfast.job.When;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;

/**
 * Recurring work: when it is due, and the job that each slot enqueues.
 *
 * @param job what a slot enqueues. Unless its policy says otherwise, it has one attempt and no time
 *     limit, and fails when its worker falls silent.
 * @param coalesce whether only the last of several slots that are due at once runs
 * @param misfireGrace how late a slot may be decided and still run
 * @param maxInstances how many of its jobs may run, or wait to, at once
 * @param expectedRuntime a run that takes more than twice as long no longer counts towards {@code
 *     maxInstances}, but other jobs still wait for the resources that it holds
 */
public record Schedule(
    String name,
    Trigger trigger,
    NewJob job,
    boolean coalesce,
    Duration misfireGrace,
    int maxInstances,
    Duration expectedRuntime,
    boolean enabled) {

  /** The shortest misfire grace: within less, a tick may not get to decide a slot. */
  static final Duration SHORTEST_GRACE = Duration.ofSeconds(1);

  private static final int NAME_CHARS = 128;
  private static final int MOST_INSTANCES = 1_000;
  private static final Duration LONGEST = Duration.ofDays(366);

  // A slot is tried once; a run whose worker fell silent has failed, and is not repeated.
  private static final PolicyOverrides ONE_TRY =
      PolicyOverrides.NONE
          .withMaxAttempts(1)
          .withTimeout(TimeLimit.NONE)
          .withOnLeaseLost(OnLeaseLost.FAIL);

  public Schedule {
    checkName(name);
    checkJob(job);
    check("misfire_grace_seconds", misfireGrace, SHORTEST_GRACE);
    check("expected_runtime_seconds", expectedRuntime, Duration.ofSeconds(1));
    if (maxInstances < 1 || maxInstances > MOST_INSTANCES) {
      throw HoldfastException.invalid("max_instances", maxInstances, "1 to " + MOST_INSTANCES);
    }
  }

  public static Schedule of(String name, Trigger trigger, NewJob job) {
    return new Schedule(
        name, trigger, job, true, Duration.ofMinutes(5), 1, Duration.ofMinutes(5), true);
  }

  public Schedule withCoalesce(boolean coalesce) {
    return new Schedule(
        name, trigger, job, coalesce, misfireGrace, maxInstances, expectedRuntime, enabled);
  }

  public Schedule withMisfireGrace(Duration misfireGrace) {
    return new Schedule(
        name, trigger, job, coalesce, misfireGrace, maxInstances, expectedRuntime, enabled);
  }

  public Schedule withMaxInstances(int maxInstances) {
    return new Schedule(
        name, trigger, job, coalesce, misfireGrace, maxInstances, expectedRuntime, enabled);
  }

  public Schedule withExpectedRuntime(Duration expectedRuntime) {
    return new Schedule(
        name, trigger, job, coalesce, misfireGrace, maxInstances, expectedRuntime, enabled);
  }

  public Schedule withEnabled(boolean enabled) {
    return new Schedule(
        name, trigger, job, coalesce, misfireGrace, maxInstances, expectedRuntime, enabled);
  }

  /** How long a run may take before it is given up. */
  Duration longestRun() {
    return expectedRuntime.multipliedBy(2);
  }

  /** The resource whose capacity limits how many of its jobs run at once. */
  String resource() {
    return Needs.resourceOfSchedule(name);
  }

  /** The job of one of its slots. */
  NewJob jobFor(Instant slot, When when) {
    List<String> resources = new ArrayList<>(job.needs().resources());
    resources.add(resource());
    return job.withResources(resources)
        .withPolicy(job.policy().over(ONE_TRY))
        .withSlot(new SlotKey(name, slot))
        .withWhen(when);
  }

  static String checkName(String name) {
    Limits.name("name", name);
    if (name.length() > NAME_CHARS) {
      throw HoldfastException.invalid("name", name, "1 to " + NAME_CHARS + " characters");
    }
    return name;
  }

  // Refuses what each slot decides itself, and what would turn the jobs of two slots into one.
  private static void checkJob(NewJob job) {
    if (job.id().isPresent()) {
      throw HoldfastException.invalid("job.id", job.id().get(), "none: every slot has its own");
    }
    if (job.uniqueKey().isPresent()) {
      throw HoldfastException.invalid("job.unique_key", job.uniqueKey().get().key(), "none");
    }
    if (!job.when().equals(When.NOW)) {
      throw HoldfastException.invalid("job.run_at", job.when(), "none: the slot decides");
    }
    if (job.firstState() != JobState.QUEUED) {
      throw HoldfastException.invalid("job.pending", true, "false: a slot's job is queued");
    }
    if (!job.placement().equals(Placement.ANYWHERE) || !job.tags().isEmpty()) {
      throw HoldfastException.invalid("job", job.kind(), "no placement and no tags");
    }
    if (job.policy().trace().isPresent()) {
      throw HoldfastException.invalid(
          "traceparent", job.policy().trace().get().parent(), "none: its runs are not one trace");
    }
    if (job.needs().subject().isPresent()) {
      throw HoldfastException.invalid("job.subject", job.needs().subject().get(), "none");
    }
    long resources = job.needs().resources().stream().filter(each -> !Needs.isTarget(each)).count();
    if (resources >= Limits.RESOURCES) {
      throw HoldfastException.invalid(
          "resources",
          resources + " resources",
          "at most %d, beside the schedule's own".formatted(Limits.RESOURCES - 1));
    }
  }

  private static void check(String field, Duration length, Duration least) {
    if (length.compareTo(least) < 0 || length.compareTo(LONGEST) > 0) {
      throw HoldfastException.invalid(
          field, length, least.toSeconds() + " seconds to " + LONGEST.toDays() + " days");
    }
  }
}
