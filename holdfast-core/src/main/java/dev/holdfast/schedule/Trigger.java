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

  /** The first moment after another at which it is due; empty when there never is one. */
  Optional<Instant> after(Instant moment);

  /** By the clock on the wall of some place; see {@link Cron} for what an expression can say. */
  static Trigger cron(String expression, ZoneId zone, Dst dst) {
    return new OnTheWall(expression, zone, dst, Cron.parse(expression));
  }

  static Trigger cron(String expression, ZoneId zone) {
    return cron(expression, zone, Dst.DEFAULTS);
  }

  /** By the clock of UTC, which is never set. */
  static Trigger cron(String expression) {
    return cron(expression, ZoneOffset.UTC);
  }

  /** Always the same time apart, whatever the clocks on the wall do. */
  static Trigger every(Duration interval) {
    return new Every(interval);
  }

  /** The zone by its name. */
  static ZoneId zone(String name) {
    try {
      return ZoneId.of(name);
    } catch (DateTimeException e) {
      throw HoldfastException.invalid("timezone", name, "a name like Europe/Berlin");
    }
  }

  /** A fixed time apart. */
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
   * Times on the wall of a zone. Between two settings of its clocks they are plain; around one,
   * {@code dst} says which of those that occur twice count, and what becomes of those that do not
   * occur.
   */
  final class OnTheWall implements Trigger {

    // The rarest time, a 29 February that is a certain day of the week, can take 40 years.
    private static final int MOST_SETTINGS = 100;

    // By the name that everybody's tables of time zones have.
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

    /** The setting that is in force, that is at or before a moment. */
    private static @Nullable ZoneOffsetTransition last(ZoneRules rules, Instant moment) {
      return rules.previousTransition(moment.plusNanos(1));
    }

    /** The first from a moment on, while the clocks run on undisturbed. */
    private Optional<Instant> firstBetween(
        Optional<ZoneOffsetTransition> since,
        Instant from,
        ZoneOffset offset,
        Optional<ZoneOffsetTransition> until) {
      LocalDateTime wall = LocalDateTime.ofInstant(from, offset);
      LocalDateTime first =
          since
              .filter(setting -> setting.isOverlap() && dst.twice() != Dst.Twice.BOTH)
              .map(ZoneOffsetTransition::getDateTimeBefore) // it was all there before
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

    /** The first of the times that a gap swallowed, as much later as it is long. */
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
