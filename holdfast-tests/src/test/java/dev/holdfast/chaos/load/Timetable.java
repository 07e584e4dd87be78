package dev.holdfast.chaos.load;

import dev.holdfast.Holdfast;
import dev.holdfast.audit.Act;
import dev.holdfast.chaos.verdict.Acknowledged;
import dev.holdfast.chaos.verdict.FiredSlot;
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

/** Schedules that are due every second, and what became of their slots. */
public final class Timetable {

  public static final Duration EVERY = Duration.ofSeconds(1);

  private static final Act ACT = Act.by("rig");
  private static final int SCHEDULES = 3;
  private static final int PAGE = 500;
  private static final int FIRST = -1; // or most slots would find the one before still waiting

  private final Holdfast holdfast;

  public Timetable(Holdfast holdfast) {
    this.holdfast = holdfast;
  }

  private static List<String> names() {
    return IntStream.range(0, SCHEDULES).mapToObj(i -> "every-second-" + i).toList();
  }

  public void begin() {
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
  }

  public void end() {
    names().forEach(name -> holdfast.schedules().enable(name, false, ACT));
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
