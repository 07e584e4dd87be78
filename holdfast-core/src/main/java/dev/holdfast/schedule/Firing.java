package dev.holdfast.schedule;

import dev.holdfast.error.ErrorCode;
import dev.holdfast.error.HoldfastException;
import dev.holdfast.job.JobIds;
import dev.holdfast.job.NewJob;
import dev.holdfast.job.When;
import dev.holdfast.queue.Enqueued;
import dev.holdfast.queue.Jobs;
import dev.holdfast.slot.SlotStatus;
import dev.holdfast.slot.Slots;
import java.time.Instant;
import java.util.Optional;
import java.util.UUID;
import java.util.function.Supplier;
import org.jdbi.v3.core.Handle;

/** Takes a slot and enqueues its job, both or neither. */
final class Firing {

  private final Slots slots;
  private final Jobs jobs;

  Firing(Slots slots, Jobs jobs) {
    this.slots = slots;
    this.jobs = jobs;
  }

  /**
   * Called before the transaction: does what an enqueue in it would need a second connection for.
   */
  void prepare(Schedule schedule) {
    jobs.prepare(schedule.jobFor(Instant.EPOCH, When.NOW));
  }

  <T> T retryIfRecreated(Supplier<T> work) {
    return jobs.retryIfRecreated(work);
  }

  /**
   * Takes a slot and enqueues its job.
   *
   * @param when when the job may start; a future slot that is triggered by hand runs now
   * @return the job's id; empty when the slot is already taken
   */
  Optional<UUID> fire(Handle handle, Schedule schedule, Instant slot, When when) {
    UUID id = JobIds.next();
    if (!slots.take(handle, schedule.name(), slot, SlotStatus.QUEUED, Optional.of(id))) {
      return Optional.empty();
    }
    NewJob job = schedule.jobFor(slot, when).withId(id);
    Enqueued enqueued = jobs.enqueue(handle.getConnection(), job);
    if (!enqueued.created()) { // the slot's row was pruned, its job still exists
      throw new HoldfastException(
          ErrorCode.STATE_CONFLICT,
          "job %s is still there for slot %s of schedule %s"
              .formatted(enqueued.id(), slot, schedule.name()));
    }
    return Optional.of(id);
  }
}
