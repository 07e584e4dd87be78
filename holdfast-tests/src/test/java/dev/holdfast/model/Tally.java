package dev.holdfast.model;

import dev.holdfast.model.Snapshot.Reservation;
import java.util.Locale;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.LongAdder;
import java.util.stream.Collectors;

/** What a run did. Thread-safe. */
final class Tally {

  private final LongAdder commands = new LongAdder();
  private final Map<String, LongAdder> byType = new ConcurrentHashMap<>();
  private final Map<String, LongAdder> events = new ConcurrentHashMap<>();

  void count(Command command) {
    commands.increment();
    byType.computeIfAbsent(command.type(), type -> new LongAdder()).increment();
  }

  void count(String event) {
    count(event, 1);
  }

  void count(String event, long times) {
    events.computeIfAbsent(event, name -> new LongAdder()).add(times);
  }

  void count(Model model, Snapshot before, Snapshot after) {
    for (ModelJob job : model.jobs()) {
      boolean was = before.isParked(job);
      if (was != after.isParked(job)) {
        count(was ? "jobs woken" : "jobs parked");
      }
    }
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

  private static String shown(Map<String, LongAdder> counts) {
    return new TreeMap<>(counts)
        .entrySet().stream()
            .map(count -> "%s %,d".formatted(count.getKey(), count.getValue().sum()))
            .collect(Collectors.joining(", "));
  }
}
