package dev.holdfast.schedule;

import com.cronutils.model.CronType;
import com.cronutils.model.definition.CronDefinitionBuilder;
import com.cronutils.model.time.ExecutionTime;
import com.cronutils.parser.CronParser;
import dev.holdfast.error.HoldfastException;
import java.time.Duration;
import java.time.LocalDateTime;
import java.time.ZoneOffset;
import java.util.Locale;
import java.util.Optional;

/**
 * A cron expression, in local time: five fields (minute, hour, day of month, month, day of week),
 * six with the second before them, or a name like {@code @daily}. It knows no time zone, and so
 * nothing of clock changes.
 */
final class Cron {

  private static final int LONGEST = 200;

  private static final String ALLOWED =
      "five fields, six with seconds first, or @hourly, @daily, @midnight, @weekly, @monthly,"
          + " @yearly, @annually";

  private static final CronParser FIVE =
      new CronParser(CronDefinitionBuilder.instanceDefinitionFor(CronType.UNIX));

  // Like FIVE, with seconds. Not one of the library's own: in those both the day of the month and
  // the day of the week must match, where in cron either is enough.
  private static final CronParser SIX =
      new CronParser(
          CronDefinitionBuilder.defineCron()
              .withSeconds()
              .withStrictRange()
              .and()
              .withMinutes()
              .withStrictRange()
              .and()
              .withHours()
              .withStrictRange()
              .and()
              .withDayOfMonth()
              .supportsL()
              .supportsW()
              .supportsLW()
              .withStrictRange()
              .and()
              .withMonth()
              .withStrictRange()
              .and()
              .withDayOfWeek()
              .withValidRange(0, 7)
              .withMondayDoWValue(1)
              .withIntMapping(7, 0)
              .supportsHash()
              .supportsL()
              .withStrictRange()
              .and()
              .instance());

  private final ExecutionTime times;

  private Cron(ExecutionTime times) {
    this.times = times;
  }

  static Cron parse(String expression) {
    // Other dialects write a field without a restriction as a question mark.
    String text = spelledOut(expression.strip()).replace('?', '*');
    int fields = text.split("\\s+", -1).length;
    if (expression.length() > LONGEST || (fields != 5 && fields != 6)) {
      throw HoldfastException.invalid("cron", expression, ALLOWED);
    }
    try {
      return new Cron(ExecutionTime.forCron((fields == 5 ? FIVE : SIX).parse(text).validate()));
    } catch (IllegalArgumentException | IndexOutOfBoundsException e) { // the second by '|', for one
      throw HoldfastException.invalid("cron", expression, ALLOWED + " (" + e.getMessage() + ")");
    }
  }

  private static String spelledOut(String expression) {
    return switch (expression.toLowerCase(Locale.ROOT)) {
      case "@hourly" -> "0 * * * *";
      case "@daily", "@midnight" -> "0 0 * * *";
      case "@weekly" -> "0 0 * * 0";
      case "@monthly" -> "0 0 1 * *";
      case "@yearly", "@annually" -> "0 0 1 1 *";
      default -> expression;
    };
  }

  /** The first matching time at or after {@code from}, if there is one. */
  Optional<LocalDateTime> nextFrom(LocalDateTime from) {
    // Any zone without clock changes will do.
    return times
        .nextExecution(from.minus(Duration.ofSeconds(1)).atZone(ZoneOffset.UTC))
        .map(next -> next.toLocalDateTime());
  }
}
