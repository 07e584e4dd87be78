package dev.holdfast.chaos.load;

import dev.holdfast.Holdfast;
import dev.holdfast.audit.Act;
import dev.holdfast.chaos.verdict.Acknowledged;
import dev.holdfast.chaos.verdict.FiredSlot;
import dev.holdfast.chaos.verdict.Hours;
import dev.holdfast.job.Policy.OnLeaseLost;
import dev.holdfast.job.RetryPolicy;
import dev.holdfast.schedule.Schedule;
import dev.holdfast.schedule.Trigger;
import dev.holdfast.slot.Slot;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.UUID;
import java.util.stream.IntStream;

/** Schedules that are due every second, and what became of their slots. For one thread. */
public final class Timetable {

  public static final Duration EVERY = Duration.ofSeconds(1);

  private static final Act ACT = Act.by("rig");
  private static final int SCHEDULES = 3;
  private static final int PAGE = 500;
  private static final int FIRST = -1; // or most slots would find the one before still waiting

  private final Holdfast holdfast;
  private Instant opening = Instant.MAX;
  private Instant open = Instant.MIN;

  public Timetable(Holdfast holdfast) {
    this.holdfast = holdfast;
  }

  private static List<String> names() {
    return IntStream.range(0, SCHEDULES).mapToObj(i -> "every-second-" + i).toList();
  }

  /** May be repeated. */
  public void begin() {
    Instant now = Instant.now();
    opening = opening.isAfter(now) ? now : opening;
    for (String name : names()) {
      Chore chore = new Chore(List.of("schedule:" + name), 10, 0, false);
      holdfast
          .schedules()
          .put(
              Schedule.of(
                  name,
                  Trigger.every(EVERY),
                  Chore.KIND
                      .job(chore)
                      .withPriority(FIRST)
                      .withPolicy(
                          Workload.persistent()
                              .withOnLeaseLost(OnLeaseLost.RETRY)
                              .withRetry(new RetryPolicy.Delays(List.of(Duration.ZERO))))),
              ACT);
    }
    open = Instant.now();
  }

  /** Whether all slots before that moment are decided about. */
  public boolean isDecidedUntil(Instant moment) {
    return names().stream()
        .allMatch(name ->
            holdfast.schedules().slots(name, Optional.empty(), 1).stream()
                .anyMatch(slot -> !slot.scheduledFor().plus(EVERY).isBefore(moment)));
  }

  /** May be repeated. */
  public Hours end(Instant closing) {
    names().forEach(name -> holdfast.schedules().enable(name, false, ACT));
    return new Hours(names(), EVERY, opening, open, closing, Instant.now());
  }

  public List<FiredSlot> slots() {
    List<FiredSlot> all = new ArrayList<>();
    for (String name : names()) {
      Optional<Instant> before = Optional.empty();
      List<Slot> page;
      do {
        page = holdfast.schedules().slots(name, before, PAGE);
        page.forEach(slot ->
            all.add(
                new FiredSlot(
                    name,
                    slot.scheduledFor(),
                    slot.status().stored(),
                    slot.jobId().map(UUID::toString))));
        before = page.isEmpty() ? before : Optional.of(page.getLast().scheduledFor());
      } while (!page.isEmpty());
    }
    return all;
  }

  /** Their jobs have to come to their end like all others. */
  public static List<Acknowledged> jobs(List<FiredSlot> slots) {
    int attempts = Workload.persistent().maxAttempts().orElseThrow();
    return slots.stream()
        .flatMap(slot -> slot.job().stream())
        .map(job -> new Acknowledged(job, 0, attempts, false, Optional.empty()))
        .toList();
  }
}
