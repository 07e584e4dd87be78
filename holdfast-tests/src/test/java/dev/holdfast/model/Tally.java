package dev.holdfast.model;

import dev.holdfast.job.JobAct;
import dev.holdfast.job.JobState;
import dev.holdfast.model.Command.Do;
import dev.holdfast.model.ModelJob.Phase;
import dev.holdfast.model.Snapshot.Reservation;
import dev.holdfast.model.Snapshot.Slot;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.LongAdder;
import java.util.stream.Collectors;

/** What a run did. Thread-safe. */
final class Tally {

  private record Cell(JobAct act, Phase phase, boolean force, boolean done) {}

  private final Map<Cell, LongAdder> cells = new ConcurrentHashMap<>();
  private final LongAdder commands = new LongAdder();
  private final Map<String, LongAdder> byType = new ConcurrentHashMap<>();
  private final Map<String, LongAdder> events = new ConcurrentHashMap<>();

  void count(Command command) {
    commands.increment();
    byType.computeIfAbsent(command.type(), type -> new LongAdder()).increment();
  }

  void count(Do act, Phase phase, boolean done) {
    cells
        .computeIfAbsent(new Cell(act.act(), phase, act.force(), done), cell -> new LongAdder())
        .increment();
  }

  /** Cells of the table of acts that allow something and were never reached. */
  List<String> unreached() {
    List<String> cells = new ArrayList<>();
    for (JobAct act : JobAct.values()) {
      for (Phase phase : Phase.values()) {
        for (boolean force : List.of(false, true)) {
          if (act.isAllowed(JobState.valueOf(phase.name()), force)
              && times(new Cell(act, phase, force, true)) == 0) {
            cells.add(act + (force ? " by force" : "") + " when " + phase);
          }
        }
      }
    }
    return cells;
  }

  private long times(Cell cell) {
    return Optional.ofNullable(cells.get(cell)).map(LongAdder::sum).orElse(0L);
  }

  /** How often each act was allowed and refused in each state, and the same by force. */
  String acts() {
    StringBuilder table = new StringBuilder("Acts, allowed/refused, and by force:\n");
    table.append("%10s".formatted(""));
    for (Phase phase : Phase.values()) {
      table.append("%20s".formatted(phase.name().toLowerCase(Locale.ROOT)));
    }
    for (JobAct act : JobAct.values()) {
      table.append("\n%10s".formatted(act.stored()));
      for (Phase phase : Phase.values()) {
        table.append(
            "%20s"
                .formatted(
                    "%d/%d %d/%d"
                        .formatted(
                            times(new Cell(act, phase, false, true)),
                            times(new Cell(act, phase, false, false)),
                            times(new Cell(act, phase, true, true)),
                            times(new Cell(act, phase, true, false)))));
      }
    }
    return table.toString();
  }

  void count(String event) {
    count(event, 1);
  }

  void count(String event, long times) {
    events.computeIfAbsent(event.toLowerCase(Locale.ROOT), name -> new LongAdder()).add(times);
  }

  void count(Model model, Snapshot before, Snapshot after) {
    for (ModelJob job : model.jobs()) {
      boolean was = before.isParked(job);
      if (was != after.isParked(job)) {
        count(was ? "jobs woken" : "jobs parked");
      }
    }
    after
        .slots()
        .forEach((key, slot) -> {
          Slot old = before.slots().get(key);
          if (old == null || !old.status().equals(slot.status())) {
            count("slots " + slot.status());
          }
        });
    for (Reservation reservation : after.reservations()) {
      boolean isNew =
          before.reservations().stream()
              .noneMatch(old ->
                  old.job().equals(reservation.job())
                      && old.resource().equals(reservation.resource()));
      count("reservations", isNew ? 1 : 0);
    }
  }

  long commands() {
    return commands.sum();
  }

  @Override
  public String toString() {
    return "%,d commands (%s); %s"
        .formatted(commands.sum(), shown(byType), shown(events))
        .toLowerCase(Locale.ROOT);
  }

  /** What this run should have met, given how long it was, and met more rarely, or never. */
  List<String> tooRare() {
    return Floor.tooRare(commands(), name -> sum(byType, name), name -> sum(events, name));
  }

  private static long sum(Map<String, LongAdder> counts, String name) {
    return Optional.ofNullable(counts.get(name)).map(LongAdder::sum).orElse(0L);
  }

  private static String shown(Map<String, LongAdder> counts) {
    return new TreeMap<>(counts)
        .entrySet().stream()
            .map(count -> "%s %,d".formatted(count.getKey(), count.getValue().sum()))
            .collect(Collectors.joining(", "));
  }
}
