package dev.holdfast.schedule;

import dev.holdfast.error.HoldfastException;
import java.time.DateTimeException;
import java.time.Duration;
import java.time.Instant;
import java.time.LocalDateTime;
import java.time.ZoneId;
import java.time.ZoneOffset;
import java.time.temporal.ChronoUnit;
import java.time.zone.ZoneOffsetTransition;
import java.time.zone.ZoneRules;
import java.util.Comparator;
import java.util.Optional;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/** When a schedule is due, to the second. */
public sealed interface Trigger {

  /**
   * The first moment after {@code moment} at which the schedule is due; empty when there is none.
   */
  Optional<Instant> after(Instant moment);

  /**
   * Due by the local time of a zone; see {@link Cron} for the expression.
   *
   * @throws HoldfastException with {@code INVALID_ARGUMENT} for an expression that cannot be read
   */
  static Trigger cron(String expression, ZoneId zone, Dst dst) {
    return new OnTheWall(expression, zone, dst, Cron.parse(expression));
  }

  static Trigger cron(String expression, ZoneId zone) {
    return cron(expression, zone, Dst.DEFAULTS);
  }

  /** Due by UTC, whose clock never changes. */
  static Trigger cron(String expression) {
    return cron(expression, ZoneOffset.UTC);
  }

  /** Due at a fixed interval, whatever local clocks do. */
  static Trigger every(Duration interval) {
    return new Every(interval);
  }

  /**
   * The zone of this name.
   *
   * @throws HoldfastException with {@code INVALID_ARGUMENT} if there is none
   */
  static ZoneId zone(String name) {
    try {
      return ZoneId.of(name);
    } catch (DateTimeException e) {
      throw HoldfastException.invalid("timezone", name, "a name like Europe/Berlin");
    }
  }

  /** Due at a fixed interval. */
  record Every(Duration interval) implements Trigger {

    private static final Duration LONGEST = Duration.ofDays(366);

    public Every {
      if (interval.compareTo(Duration.ofSeconds(1)) < 0
          || interval.compareTo(LONGEST) > 0
          || !interval.equals(interval.truncatedTo(ChronoUnit.SECONDS))) {
        throw HoldfastException.invalid(
            "every_seconds", interval, "whole seconds, 1 second to 366 days");
      }
    }

    @Override
    public Optional<Instant> after(Instant moment) {
      return Optional.of(moment.truncatedTo(ChronoUnit.SECONDS).plus(interval));
    }
  }

  /**
   * Due at local times of a zone. Where its clocks change, {@code dst} decides which of the times
   * that occur twice count, and what becomes of those that do not occur.
   */
  final class OnTheWall implements Trigger {

    // How many clock changes a search goes through. The rarest time, a 29 February on a certain day
    // of the week, can be 40 years away.
    private static final int MOST_SETTINGS = 100;

    // By the name that every time zone database has.
    private static final ZoneId UTC = ZoneId.of("UTC");

    private final String expression;
    private final ZoneId zone;
    private final Dst dst;
    private final Cron cron;

    private OnTheWall(String expression, ZoneId zone, Dst dst, Cron cron) {
      this.expression = expression;
      this.zone = zone.equals(ZoneOffset.UTC) ? UTC : zone; // one zone must not have two names
      this.dst = dst;
      this.cron = cron;
    }

    public String expression() {
      return expression;
    }

    public ZoneId zone() {
      return zone;
    }

    public Dst dst() {
      return dst;
    }

    @Override
    public boolean equals(@Nullable Object other) {
      return other instanceof OnTheWall that
          && expression.equals(that.expression)
          && zone.equals(that.zone)
          && dst.equals(that.dst);
    }

    @Override
    public int hashCode() {
      return expression.hashCode();
    }

    @Override
    public String toString() {
      return expression + " " + zone;
    }

    @Override
    public Optional<Instant> after(Instant moment) {
      ZoneRules rules = zone.getRules();
      Instant from = moment.truncatedTo(ChronoUnit.SECONDS).plusSeconds(1);
      for (int setting = 0; setting < MOST_SETTINGS; setting++) {
        Optional<ZoneOffsetTransition> until = Optional.ofNullable(rules.nextTransition(from));
        Optional<Instant> found =
            firstBetween(
                Optional.ofNullable(last(rules, from)), from, rules.getOffset(from), until);
        if (found.isPresent() || until.isEmpty()) {
          return found;
        }
        from = until.get().getInstant();
      }
      return Optional.empty();
    }

    /** The last clock change at or before a moment. */
    private static @Nullable ZoneOffsetTransition last(ZoneRules rules, Instant moment) {
      return rules.previousTransition(moment.plusNanos(1));
    }

    /** The first due moment from {@code from} on, between two clock changes. */
    private Optional<Instant> firstBetween(
        Optional<ZoneOffsetTransition> since,
        Instant from,
        ZoneOffset offset,
        Optional<ZoneOffsetTransition> until) {
      LocalDateTime wall = LocalDateTime.ofInstant(from, offset);
      LocalDateTime first =
          since
              .filter(setting -> setting.isOverlap() && dst.twice() != Dst.Twice.BOTH)
              .map(ZoneOffsetTransition::getDateTimeBefore) // times until then have occurred before
              .filter(wall::isBefore)
              .orElse(wall);
      Optional<LocalDateTime> shifted =
          since
              .filter(setting -> setting.isGap() && dst.missing() == Dst.Missing.SHIFT)
              .flatMap(gap -> shifted(gap, wall));
      return Stream.of(cron.nextFrom(first), shifted)
          .flatMap(Optional::stream)
          .min(Comparator.naturalOrder())
          .filter(found -> until.map(setting -> found.isBefore(end(setting))).orElse(true))
          .map(found -> found.toInstant(offset));
    }

    private LocalDateTime end(ZoneOffsetTransition setting) {
      return setting.isOverlap() && dst.twice() == Dst.Twice.SKIP
          ? setting.getDateTimeAfter()
          : setting.getDateTimeBefore();
    }

    /** The first due time that falls into a gap, later by the length of the gap. */
    private Optional<LocalDateTime> shifted(ZoneOffsetTransition gap, LocalDateTime from) {
      Duration length = gap.getDuration();
      LocalDateTime missing = from.minus(length);
      LocalDateTime first =
          missing.isBefore(gap.getDateTimeBefore()) ? gap.getDateTimeBefore() : missing;
      return first.isBefore(gap.getDateTimeAfter())
          ? cron.nextFrom(first)
              .filter(time -> time.isBefore(gap.getDateTimeAfter()))
              .map(time -> time.plus(length))
          : Optional.empty();
    }
  }
}
