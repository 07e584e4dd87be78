package dev.holdfast.schedule;

import static org.assertj.core.api.Assertions.assertThat;

import dev.holdfast.schedule.Dst.Missing;
import dev.holdfast.schedule.Dst.Twice;
import dev.holdfast.testkit.Covers;
import java.time.Duration;
import java.time.Instant;
import java.time.LocalDateTime;
import java.time.ZoneId;
import java.time.ZoneOffset;
import java.time.temporal.ChronoUnit;
import java.time.zone.ZoneOffsetTransition;
import java.time.zone.ZoneRules;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.function.Predicate;
import org.junit.jupiter.api.Test;

/**
 * Around every setting of every clock of the world from 2000 to 2040, slots are what somebody finds
 * who looks at the wall every minute.
 */
class DstSweepTest {

  private static final Instant FROM = Instant.parse("2000-01-01T00:00:00Z");
  private static final Instant TO = Instant.parse("2041-01-01T00:00:00Z");

  /** A schedule, and how one recognises its times on the wall. */
  private enum Shape {
    QUARTERS("*/15 * * * *", wall -> wall.getMinute() % 15 == 0),
    ONCE_IN_THE_NIGHT("30 2 * * *", wall -> wall.getHour() == 2 && wall.getMinute() == 30),
    MIDNIGHT("0 0 * * *", wall -> wall.getHour() == 0 && wall.getMinute() == 0),
    EVERY_OTHER_HOUR("5 */2 * * *", wall -> wall.getHour() % 2 == 0 && wall.getMinute() == 5),
    SUNDAYS("45 1,3 * * 0", Shape::isSunday);

    final String cron;
    final Predicate<LocalDateTime> matches;

    Shape(String cron, Predicate<LocalDateTime> matches) {
      this.cron = cron;
      this.matches = matches;
    }

    private static boolean isSunday(LocalDateTime wall) {
      return wall.getDayOfWeek().getValue() == 7
          && (wall.getHour() == 1 || wall.getHour() == 3)
          && wall.getMinute() == 45;
    }
  }

  @Covers("D2")
  @Test
  void slots_are_right_around_every_setting_of_every_clock() {
    Map<ZoneRules, ZoneId> zones = new TreeMap<>((a, b) -> a.equals(b) ? 0 : compare(a, b));
    ZoneId.getAvailableZoneIds().stream()
        .sorted()
        .map(ZoneId::of)
        .forEach(zone -> zones.putIfAbsent(zone.getRules(), zone));
    int settings = 0;
    List<String> wrong = new ArrayList<>();
    for (ZoneId zone : zones.values()) {
      for (ZoneOffsetTransition setting = zone.getRules().nextTransition(FROM);
          setting != null && setting.getInstant().isBefore(TO);
          setting = zone.getRules().nextTransition(setting.getInstant())) {
        settings++;
        check(zone, setting, wrong);
      }
    }

    System.out.printf("DST: %d rules, %d settings%n", zones.size(), settings);
    assertThat(wrong).isEmpty();
    assertThat(settings).isGreaterThan(5_000);
  }

  private static int compare(ZoneRules a, ZoneRules b) {
    int byHash = Integer.compare(a.hashCode(), b.hashCode());
    return byHash != 0 ? byHash : a.toString().compareTo(b.toString());
  }

  private static void check(ZoneId zone, ZoneOffsetTransition setting, List<String> wrong) {
    Duration around = setting.getDuration().abs().plus(Duration.ofMinutes(61));
    Instant from = setting.getInstant().minus(around).truncatedTo(ChronoUnit.MINUTES);
    Instant to = setting.getInstant().plus(around).truncatedTo(ChronoUnit.MINUTES);
    Map<LocalDateTime, List<Instant>> wall = lookedAt(zone.getRules(), from, to);
    for (Shape shape : Shape.values()) {
      for (Twice twice : Twice.values()) {
        for (Missing missing : Missing.values()) {
          Dst dst = new Dst(twice, missing);
          List<Instant> expected = expected(shape, dst, wall, setting, from, to);
          List<Instant> found = found(Trigger.cron(shape.cron, zone, dst), from, to);
          if (!found.equals(expected)) {
            wrong.add(
                "%s %s %s %s: %s instead of %s"
                    .formatted(zone, setting, shape, dst, found, expected));
          }
        }
      }
    }
  }

  /** What the wall showed at each minute. */
  private static Map<LocalDateTime, List<Instant>> lookedAt(
      ZoneRules rules, Instant from, Instant to) {
    Map<LocalDateTime, List<Instant>> shown = new TreeMap<>();
    for (Instant at = from; !at.isAfter(to); at = at.plusSeconds(60)) {
      shown
          .computeIfAbsent(
              LocalDateTime.ofInstant(at, rules.getOffset(at)), wall -> new ArrayList<>())
          .add(at);
    }
    return shown;
  }

  private static List<Instant> expected(
      Shape shape,
      Dst dst,
      Map<LocalDateTime, List<Instant>> wall,
      ZoneOffsetTransition setting,
      Instant from,
      Instant to) {
    TreeSet<Instant> times = new TreeSet<>();
    wall.forEach((shown, moments) -> {
      if (shape.matches.test(shown)) {
        switch (moments.size() == 1 ? Twice.BOTH : dst.twice()) {
          case ONCE -> times.add(moments.getFirst());
          case BOTH -> times.addAll(moments);
          case SKIP -> {}
        }
      }
    });
    if (setting.isGap() && dst.missing() == Missing.SHIFT) {
      ZoneOffset before = setting.getOffsetBefore(); // as if nobody had set the clock
      for (LocalDateTime missing = setting.getDateTimeBefore();
          missing.isBefore(setting.getDateTimeAfter());
          missing = missing.plusMinutes(1)) {
        if (shape.matches.test(missing)) {
          times.add(missing.toInstant(before));
        }
      }
    }
    return times.stream().filter(at -> at.isAfter(from) && !at.isAfter(to)).toList();
  }

  private static List<Instant> found(Trigger trigger, Instant from, Instant to) {
    List<Instant> times = new ArrayList<>();
    Optional<Instant> next = trigger.after(from);
    while (next.isPresent() && !next.get().isAfter(to)) {
      times.add(next.get());
      next = trigger.after(next.get());
    }
    return times;
  }
}
