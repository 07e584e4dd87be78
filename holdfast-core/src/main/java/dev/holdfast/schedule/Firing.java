package dev.holdfast.schedule;

import dev.holdfast.job.JobIds;
import dev.holdfast.job.Needs;
import dev.holdfast.job.NewJob;
import dev.holdfast.job.Policy.OnLeaseLost;
import dev.holdfast.job.PolicyOverrides;
import dev.holdfast.job.TimeLimit;
import dev.holdfast.queue.Jobs;
import dev.holdfast.slot.SlotStatus;
import dev.holdfast.slot.Slots;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.UUID;
import org.jdbi.v3.core.Handle;

/** Takes a slot and enqueues its job, both or neither. */
final class Firing {

  // A slot is one try; a run whose worker vanished is over, not run again.
  private static final PolicyOverrides ONE_TRY =
      PolicyOverrides.NONE
          .withMaxAttempts(1)
          .withTimeout(TimeLimit.NONE)
          .withOnLeaseLost(OnLeaseLost.FAIL);

  private final Slots slots;
  private final Jobs jobs;

  Firing(Slots slots, Jobs jobs) {
    this.slots = slots;
    this.jobs = jobs;
  }

  /** The job's id; empty when the slot is somebody else's. */
  Optional<UUID> fire(Handle handle, Schedule schedule, Instant scheduledFor) {
    UUID id = JobIds.next();
    Optional<UUID> jobId = Optional.of(id);
    if (!slots.take(
        handle, schedule.name(), scheduledFor, SlotStatus.QUEUED, Optional.empty(), jobId)) {
      return Optional.empty();
    }
    jobs.enqueue(handle.getConnection(), job(schedule).withId(id).withRunAt(scheduledFor));
    return jobId;
  }

  private static NewJob job(Schedule schedule) {
    NewJob job = schedule.job();
    List<String> resources = new ArrayList<>(job.needs().resources());
    resources.add(Needs.resourceOfSchedule(schedule.name()));
    return job.withResources(resources).withPolicy(job.policy().over(ONE_TRY));
  }
}
