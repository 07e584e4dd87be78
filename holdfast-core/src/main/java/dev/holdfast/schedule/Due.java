package dev.holdfast.schedule;

import dev.holdfast.slot.SlotStatus;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;

/**
 * What is to become of the slots of one schedule that are due. Pure: the database's clock, and how
 * many of the schedule's slots are open, come from the caller.
 *
 * @param next the first slot that is not decided with these
 */
record Due(List<Decision> decisions, Optional<Instant> next) {

  /**
   * One slot's fate; {@code QUEUED} means that it gets a job.
   *
   * @param reason empty only where it gets one
   */
  record Decision(Instant scheduledFor, SlotStatus status, Optional<String> reason) {}

  /** Decides about at most so many, the oldest first. */
  static Due of(Schedule schedule, Instant first, Instant now, int open, int most) {
    List<Instant> slots = new ArrayList<>();
    Optional<Instant> next = Optional.of(first);
    while (next.isPresent() && !next.get().isAfter(now) && slots.size() < most) {
      slots.add(next.get());
      next = schedule.trigger().after(next.get());
    }
    List<Decision> decisions = new ArrayList<>();
    int room = schedule.maxInstances() - open;
    for (Instant slot : slots) {
      Decision decision = decide(schedule, slot, slots.getLast(), next, now, room);
      room -= decision.status == SlotStatus.QUEUED ? 1 : 0;
      decisions.add(decision);
    }
    return new Due(decisions, next);
  }

  private static Decision decide(
      Schedule schedule,
      Instant slot,
      Instant last,
      Optional<Instant> next,
      Instant now,
      int room) {
    Duration late = Duration.between(slot, now);
    if (late.compareTo(schedule.misfireGrace()) > 0) {
      return skipped(
          slot,
          SlotStatus.SKIPPED_MISFIRE,
          "%s late, %s is allowed".formatted(seconds(late), seconds(schedule.misfireGrace())));
    }
    boolean moreAreDue =
        slot.isBefore(last) || next.filter(after -> !after.isAfter(now)).isPresent();
    if (schedule.coalesce() && moreAreDue) {
      return skipped(slot, SlotStatus.COALESCED, "a later slot was due as well");
    }
    if (room <= 0) {
      return skipped(
          slot,
          SlotStatus.SKIPPED_OVERLAP,
          "%d of at most %d runs are not over"
              .formatted(schedule.maxInstances() - room, schedule.maxInstances()));
    }
    return new Decision(slot, SlotStatus.QUEUED, Optional.empty());
  }

  private static Decision skipped(Instant slot, SlotStatus status, String reason) {
    return new Decision(slot, status, Optional.of(reason));
  }

  private static String seconds(Duration length) {
    return length.toSeconds() + " s";
  }
}
