package dev.holdfast.schedule;

import dev.holdfast.slot.SlotStatus;
import dev.holdfast.slot.Slots.Skipped;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.Set;

/**
 * The decision about the due slots of one schedule. Pure: the database's time, and which of the
 * schedule's slots are taken or open, come from the caller.
 *
 * @param fire slots that get a job
 * @param skip slots that get no job, and why
 * @param next the first slot that is not decided here
 */
record Due(List<Instant> fire, List<Skipped> skip, Optional<Instant> next) {

  /** The slots that are due, the oldest first, and the first that is not among them. */
  record Times(List<Instant> slots, Optional<Instant> next) {

    static Times of(Trigger trigger, Instant first, Instant now, int most) {
      List<Instant> slots = new ArrayList<>();
      Optional<Instant> next = Optional.of(first);
      while (next.isPresent() && !next.get().isAfter(now) && slots.size() < most) {
        slots.add(next.get());
        next = trigger.after(next.get());
      }
      return new Times(slots, next);
    }

    boolean hasMore(Instant now) {
      return next.filter(after -> !after.isAfter(now)).isPresent();
    }
  }

  /**
   * Decides about all due slots except those that are already taken.
   *
   * @param open how many slots of the schedule have a run that has not ended
   */
  static Due of(Schedule schedule, Times due, Set<Instant> taken, Instant now, int open) {
    List<Instant> fire = new ArrayList<>();
    List<Skipped> skip = new ArrayList<>();
    for (Instant slot : due.slots) {
      if (taken.contains(slot)) {
        continue;
      }
      boolean moreAreDue = slot.isBefore(due.slots.getLast()) || due.hasMore(now);
      Optional<Skipped> skipped = skipped(schedule, slot, moreAreDue, now, open + fire.size());
      skipped.ifPresentOrElse(skip::add, () -> fire.add(slot));
    }
    return new Due(fire, skip, due.next);
  }

  private static Optional<Skipped> skipped(
      Schedule schedule, Instant slot, boolean moreAreDue, Instant now, int open) {
    Duration late = Duration.between(slot, now);
    if (late.compareTo(schedule.misfireGrace()) > 0) {
      String reason =
          "%s late, %s is allowed".formatted(seconds(late), seconds(schedule.misfireGrace()));
      return Optional.of(new Skipped(slot, SlotStatus.SKIPPED_MISFIRE, reason));
    }
    if (schedule.coalesce() && moreAreDue) {
      return Optional.of(new Skipped(slot, SlotStatus.COALESCED, "a later slot was due as well"));
    }
    if (open >= schedule.maxInstances()) {
      String reason = "%d of at most %d runs are not over".formatted(open, schedule.maxInstances());
      return Optional.of(new Skipped(slot, SlotStatus.SKIPPED_OVERLAP, reason));
    }
    return Optional.empty();
  }

  private static String seconds(Duration length) {
    return length.toSeconds() + " s";
  }
}
