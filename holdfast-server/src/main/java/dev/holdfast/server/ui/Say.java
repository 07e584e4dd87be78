package dev.holdfast.server.ui;

import java.net.URLEncoder;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.time.Instant;
import java.time.ZoneId;
import java.time.ZoneOffset;
import java.time.format.DateTimeFormatter;
import java.util.Locale;
import java.util.UUID;

/** Formats times, durations and numbers for people. */
final class Say {

  private static final DateTimeFormatter TIME =
      DateTimeFormatter.ofPattern("uuuu-MM-dd HH:mm:ss", Locale.ROOT);
  private static final DateTimeFormatter CLOCK =
      DateTimeFormatter.ofPattern("HH:mm:ss.SSS", Locale.ROOT);
  private static final DateTimeFormatter DAY =
      DateTimeFormatter.ofPattern("EEE uuuu-MM-dd HH:mm:ss", Locale.ENGLISH);

  private Say() {}

  static String time(Instant at) {
    return TIME.format(at.atOffset(ZoneOffset.UTC));
  }

  static String clock(Instant at) {
    return CLOCK.format(at.atOffset(ZoneOffset.UTC));
  }

  static String time(Instant at, ZoneId zone) {
    return DAY.format(at.atZone(zone));
  }

  /** 12 s ago, or in 12 s. */
  static String ago(Instant at, Instant now) {
    Duration since = Duration.between(at, now);
    return since.isNegative() ? "in " + length(since.negated()) : length(since) + " ago";
  }

  static String since(Instant at, Instant now) {
    Duration since = Duration.between(at, now);
    return length(since.isNegative() ? Duration.ZERO : since);
  }

  /** The two largest units, at most. */
  static String length(Duration length) {
    long seconds = length.toSeconds();
    if (seconds < 1) {
      return length.toMillis() + " ms";
    }
    if (seconds < 10) {
      return String.format(Locale.ROOT, "%.1f s", length.toMillis() / 1000.0);
    }
    if (seconds < 60) {
      return seconds + " s";
    }
    if (seconds < 3_600) {
      return two(seconds / 60, "m", seconds % 60, "s");
    }
    return seconds < 86_400
        ? two(seconds / 3_600, "h", seconds % 3_600 / 60, "m")
        : two(seconds / 86_400, "d", seconds % 86_400 / 3_600, "h");
  }

  private static String two(long large, String unit, long small, String smallUnit) {
    return small == 0 ? large + " " + unit : large + " " + unit + " " + small + " " + smallUnit;
  }

  static String millis(double millis) {
    return length(Duration.ofMillis(Math.round(millis)));
  }

  static String number(long number) {
    return String.format(Locale.ROOT, "%,d", number).replace(',', '\u202f');
  }

  /** In a short form, like 4.9 M. */
  static String roughly(double number) {
    double size = Math.abs(number);
    if (size >= 1e9) {
      return String.format(Locale.ROOT, "%.1f G", number / 1e9);
    }
    if (size >= 1e6) {
      return String.format(Locale.ROOT, "%.1f M", number / 1e6);
    }
    if (size >= 1e4) {
      return String.format(Locale.ROOT, "%.0f k", number / 1e3);
    }
    if (size >= 100 || size == Math.rint(size)) {
      return number(Math.round(number));
    }
    return String.format(Locale.ROOT, size >= 10 ? "%.1f" : "%.2f", number);
  }

  /** The beginning and the end of an id; the end differs between jobs made at the same time. */
  static String shortId(UUID id) {
    String text = id.toString();
    return text.substring(0, 8) + "…" + text.substring(text.length() - 6);
  }

  static String query(String value) {
    return URLEncoder.encode(value, StandardCharsets.UTF_8);
  }

  static String words(String code) {
    String words = code.replace('_', ' ').toLowerCase(Locale.ROOT);
    return words.isEmpty()
        ? words
        : words.substring(0, 1).toUpperCase(Locale.ROOT) + words.substring(1);
  }
}
