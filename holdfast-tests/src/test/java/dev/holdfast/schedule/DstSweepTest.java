package dev.holdfast.schedule;

import static org.assertj.core.api.Assertions.assertThat;

import dev.holdfast.schedule.Dst.Missing;
import dev.holdfast.schedule.Dst.Twice;
import dev.holdfast.testkit.Covers;
import java.time.DayOfWeek;
import java.time.Duration;
import java.time.Instant;
import java.time.LocalDateTime;
import java.time.ZoneId;
import java.time.ZoneOffset;
import java.time.temporal.ChronoUnit;
import java.time.zone.ZoneOffsetTransition;
import java.time.zone.ZoneRules;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.concurrent.TimeUnit;
import java.util.function.Predicate;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/**
 * Around every setting of every clock of the world from 2000 to 2040, slots are what somebody finds
 * who looks at the wall every minute.
 */
class DstSweepTest {

  private static final Instant FROM = Instant.parse("2000-01-01T00:00:00Z");
  private static final Instant TO = Instant.parse("2041-01-01T00:00:00Z");

  /** A schedule, and how one recognises its times on the wall. */
  private record Shape(String cron, Predicate<LocalDateTime> matches) {}

  private static final List<Shape> SHAPES =
      List.of(
          new Shape("*/15 * * * *", wall -> wall.getMinute() % 15 == 0),
          new Shape("30 2 * * *", wall -> wall.getHour() == 2 && wall.getMinute() == 30),
          new Shape("0 0 * * *", wall -> wall.getHour() == 0 && wall.getMinute() == 0),
          new Shape("5 */2 * * *", wall -> wall.getHour() % 2 == 0 && wall.getMinute() == 5),
          new Shape("45 1,3 * * 0", DstSweepTest::isSundayMorning));

  private static boolean isSundayMorning(LocalDateTime wall) {
    return wall.getDayOfWeek() == DayOfWeek.SUNDAY
        && (wall.getHour() == 1 || wall.getHour() == 3)
        && wall.getMinute() == 45;
  }

  @Covers("D2")
  @Timeout(value = 10, unit = TimeUnit.MINUTES)
  @Test
  void slots_are_right_around_every_setting_of_every_clock() {
    Map<ZoneRules, ZoneId> zones = new TreeMap<>((a, b) -> a.equals(b) ? 0 : compare(a, b));
    ZoneId.getAvailableZoneIds().stream()
        .sorted()
        .map(ZoneId::of)
        .forEach(zone -> zones.putIfAbsent(zone.getRules(), zone));
    // Neighbours set their clocks alike: what a wall showed in Paris need not be looked at in Rome.
    Set<ZoneOffsetTransition> settings = new HashSet<>();
    List<String> wrong = new ArrayList<>();
    for (ZoneId zone : zones.values()) {
      List<Case> cases = cases(zone);
      for (ZoneOffsetTransition setting = zone.getRules().nextTransition(FROM);
          setting != null && setting.getInstant().isBefore(TO);
          setting = zone.getRules().nextTransition(setting.getInstant())) {
        if (settings.add(setting)) {
          check(zone, cases, setting, wrong);
        }
      }
    }

    System.out.printf("DST: %d rules, %d settings%n", zones.size(), settings.size());
    assertThat(wrong).isEmpty();
    assertThat(settings).hasSizeGreaterThan(3_000);
  }

  private static int compare(ZoneRules a, ZoneRules b) {
    int byHash = Integer.compare(a.hashCode(), b.hashCode());
    return byHash != 0 ? byHash : a.toString().compareTo(b.toString());
  }

  private record Case(Shape shape, Dst dst, Trigger trigger) {}

  private static List<Case> cases(ZoneId zone) {
    List<Case> cases = new ArrayList<>();
    for (Shape shape : SHAPES) {
      for (Twice twice : Twice.values()) {
        for (Missing missing : Missing.values()) {
          Dst dst = new Dst(twice, missing);
          cases.add(new Case(shape, dst, Trigger.cron(shape.cron, zone, dst)));
        }
      }
    }
    return cases;
  }

  private static void check(
      ZoneId zone, List<Case> cases, ZoneOffsetTransition setting, List<String> wrong) {
    Duration around = setting.getDuration().abs().plus(Duration.ofMinutes(61));
    Instant from = setting.getInstant().minus(around).truncatedTo(ChronoUnit.MINUTES);
    Instant to = setting.getInstant().plus(around).truncatedTo(ChronoUnit.MINUTES);
    Map<LocalDateTime, List<Instant>> wall = lookedAt(zone.getRules(), from, to);
    for (Case each : cases) {
      List<Instant> expected = expected(each.shape, each.dst, wall, setting, from, to);
      List<Instant> found = found(each.trigger, from, to);
      if (!found.equals(expected)) {
        wrong.add(
            "%s %s %s %s: %s instead of %s"
                .formatted(zone, setting, each.shape.cron, each.dst, found, expected));
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
