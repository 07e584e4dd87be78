package dev.holdfast.schedule;

import dev.holdfast.fuzz.FuzzTarget;
import java.time.Instant;
import java.time.ZoneId;
import java.time.ZoneOffset;
import java.util.List;
import java.util.Optional;

/** Expressions of cron: the next moment is later than now, or there is none. */
public final class CronFuzz implements FuzzTarget {

  private static final Instant NOW = Instant.parse("2026-11-17T09:00:00Z");
  private static final ZoneId ODD = ZoneId.of("Australia/Lord_Howe");

  public static void fuzzerTestOneInput(byte[] data) {
    FuzzTarget.run(new CronFuzz(), data);
  }

  @Override
  public List<String> seeds() {
    return List.of(
        "* * * * *",
        "*/5 0-23/2 1,15 JAN-DEC MON-FRI",
        "0 0 31 2 *",
        "| | | | |", // was an index out of bounds
        "0 0 29 2 *",
        "59 23 31 12 7",
        "@daily",
        "@every 5m",
        "0 0 ? * 1#2",
        "0 0 L * *",
        "99999999999 * * * *",
        "1-0 * * * *",
        "*/0 * * * *");
  }

  @Override
  public void read(String text) {
    for (ZoneId zone : List.of(ZoneOffset.UTC, ODD)) {
      Trigger trigger = Trigger.cron(text, zone);
      Optional<Instant> next = trigger.after(NOW);
      FuzzTarget.check(
          next.isEmpty() || next.get().isAfter(NOW), "the next moment is after this one: " + text);
      FuzzTarget.check(
          Trigger.cron(text, zone).after(NOW).equals(next), "the same is read the same: " + text);
    }
  }
}
