package dev.holdfast.model;

import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.function.ToLongFunction;

/**
 * How often a run has to meet what, so that a generator that no longer comes up with something does
 * not go unnoticed. For 50,000 commands, and reckoned from the generator's dice, well below what
 * they should bring; a longer run has to meet as much more.
 */
final class Floor {

  static final long COMMANDS = 50_000;

  /** Commands, by their type. Acts have a table of their own, see {@link Tally#unreached}. */
  static final Map<String, Integer> OF_COMMANDS =
      Map.ofEntries(
          Map.entry("enqueue", 2_000),
          Map.entry("claim", 3_000),
          Map.entry("beat", 300),
          Map.entry("start", 200),
          Map.entry("askstop", 30),
          Map.entry("tell", 300),
          Map.entry("finish", 2_000),
          Map.entry("tick", 1_000),
          Map.entry("reap", 1_000),
          Map.entry("sweep", 8),
          Map.entry("setcapacity", 100),
          Map.entry("freeresource", 50),
          Map.entry("setqueue", 200),
          Map.entry("putschedule", 100),
          Map.entry("deleteschedule", 50),
          Map.entry("decide", 300),
          Map.entry("trigger", 100),
          Map.entry("recover", 50),
          Map.entry("remake", 5),
          Map.entry("inspect", 200));

  /** What came of them. */
  static final Map<String, Integer> OF_EVENTS =
      Map.ofEntries(
          Map.entry("jobs parked", 500),
          Map.entry("jobs woken", 300),
          Map.entry("reservations", 10),
          Map.entry("claims granted", 2_000),
          Map.entry("claims repeated", 100),
          Map.entry("enqueues that were there already", 50),
          Map.entry("dispatched and started", 50),
          Map.entry("beats extended", 100),
          Map.entry("beats lost", 30),
          Map.entry("beats stop_requested", 3),
          Map.entry("reports stored", 100),
          Map.entry("reports repeated", 5),
          Map.entry("tokens over the limit of the cancelled", 8),
          Map.entry("successes over the token limit", 10),
          Map.entry("reports lost", 30),
          Map.entry("ends repeated", 50),
          Map.entry("zombies refused", 20),
          Map.entry("robbed refused", 100),
          Map.entry("attempts reaped", 300),
          Map.entry("vanished runs left to their schedules", 8),
          Map.entry("slots fired", 100),
          Map.entry("slots running", 30),
          Map.entry("slots ran", 20),
          Map.entry("slots failed", 10),
          Map.entry("slots coalesced", 20),
          Map.entry("slots skipped_misfire", 30),
          Map.entry("slots skipped_overlap", 5),
          Map.entry("slots skipped_timeout", 2),
          Map.entry("tenants remade", 2),
          Map.entry("neighbours remade", 1),
          Map.entry("drained", 100));

  private Floor() {}

  static List<String> tooRare(
      long commands, ToLongFunction<String> ofCommands, ToLongFunction<String> ofEvents) {
    List<String> tooRare = new ArrayList<>();
    look(commands, OF_COMMANDS, ofCommands, tooRare);
    look(commands, OF_EVENTS, ofEvents, tooRare);
    return tooRare;
  }

  private static void look(
      long commands,
      Map<String, Integer> floors,
      ToLongFunction<String> counted,
      List<String> tooRare) {
    new TreeMap<>(floors)
        .forEach((name, floor) -> {
          long least = Math.max(1, floor * commands / COMMANDS);
          long times = counted.applyAsLong(name);
          if (times < least) {
            tooRare.add("%s: %d instead of at least %d".formatted(name, times, least));
          }
        });
  }
}
