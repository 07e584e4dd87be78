package dev.holdfast.schedule;

import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;

/**
 * A schedule and its next slot.
 *
 * @param nextAt its next slot; empty while it is disabled
 * @param declaredBy the application whose code declares it; empty if people made it
 */
public record Planned(Schedule schedule, Optional<Instant> nextAt, Optional<String> declaredBy) {

  /**
   * The first {@code count} times from a moment on at which the schedule is due, also while it is
   * disabled.
   */
  List<Instant> times(Instant from, int count) {
    Trigger trigger = schedule.trigger();
    Optional<Instant> next =
        nextAt
            .flatMap(slot -> counted(slot, from, trigger))
            .or(() -> trigger.after(from.minusSeconds(1)));
    List<Instant> times = new ArrayList<>();
    while (next.isPresent() && times.size() < count) {
      times.add(next.get());
      next = trigger.after(next.get());
    }
    return times;
  }

  // The slots of an interval are computed from the next slot, forwards and backwards.
  private static Optional<Instant> counted(Instant slot, Instant from, Trigger trigger) {
    if (!(trigger instanceof Trigger.Every(var interval))) {
      return Optional.empty();
    }
    long apart = ChronoUnit.SECONDS.between(slot, from);
    return Optional.of(slot.plus(interval.multipliedBy(Math.ceilDiv(apart, interval.toSeconds()))));
  }
}
