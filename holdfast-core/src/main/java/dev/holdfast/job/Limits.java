package dev.holdfast.job;

import dev.holdfast.error.HoldfastException;
import java.nio.charset.StandardCharsets;
import java.time.Instant;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * The largest values that are accepted. A value past its limit is refused with an error that names
 * the field, and nothing is stored.
 */
public final class Limits {

  public static final int NAME_CHARS = 200;
  public static final int PAYLOAD_BYTES = 256 * 1024;
  public static final int TAGS = 32;
  public static final int RESOURCES = 16;
  public static final int LABELS = 32;
  public static final int LABEL_CHARS = 500;
  public static final int ATTEMPTS = 1_000;
  public static final int BATCH_JOBS = 1_000_000;
  public static final int QUEUES_OF_WORKER = 200;
  public static final int KINDS_OF_WORKER = 1_000;
  public static final int CLAIM_JOBS = 1_000;
  public static final int PAGE_ROWS = 1_000;
  public static final int ERROR_MESSAGE_CHARS = 10_000;
  public static final int LOG_EXCERPT_CHARS = 4_000;
  public static final int LOG_LINE_CHARS = 8_000;
  public static final int LOG_LINES_PER_REPORT = 1_000;
  public static final int ITEMS_PER_REPORT = 1_000;
  public static final int CURSOR_CHARS = 4_000;

  private static final Instant EARLIEST = Instant.parse("1970-01-01T00:00:00Z");
  private static final Instant LATEST = Instant.parse("9999-12-31T00:00:00Z");

  private Limits() {}

  /**
   * A name is 1 to 200 printable characters: control characters would corrupt logs and terminals.
   */
  public static String name(String field, @Nullable String value) {
    if (value == null) {
      throw HoldfastException.invalid(field, "null", "1 to " + NAME_CHARS + " characters");
    }
    if (value.isEmpty() || value.length() > NAME_CHARS) {
      throw HoldfastException.invalid(field, value, "1 to " + NAME_CHARS + " characters");
    }
    if (value.chars().anyMatch(Character::isISOControl)) {
      throw HoldfastException.invalid(
          field, value.replaceAll("\\p{Cntrl}", "?"), "no control characters");
    }
    if (hasLoneSurrogate(value)) {
      throw HoldfastException.invalid(field, value, "whole characters"); // would be stored as '?'
    }
    return value;
  }

  private static boolean hasLoneSurrogate(String value) {
    return value
        .codePoints()
        .anyMatch(c -> c >= Character.MIN_SURROGATE && c <= Character.MAX_SURROGATE);
  }

  /** Checks how many rows a caller asks for at once. */
  public static int page(String field, int limit) {
    if (limit < 1 || limit > PAGE_ROWS) {
      throw HoldfastException.invalid(field, limit, "1 to " + PAGE_ROWS);
    }
    return limit;
  }

  /** Checks that a count is at least 1. */
  public static long positive(String field, long number) {
    if (number < 1) {
      throw HoldfastException.invalid(field, number, "1 or more");
    }
    return number;
  }

  /** Checks that both Java and the database can represent a moment. */
  public static Instant moment(String field, Instant moment) {
    if (moment.isBefore(EARLIEST) || moment.isAfter(LATEST)) {
      throw HoldfastException.invalid(field, moment, "a moment in the years 1970 to 9999");
    }
    return moment;
  }

  public static int priority(int priority) {
    if (priority < Short.MIN_VALUE || priority > Short.MAX_VALUE) {
      throw HoldfastException.invalid(
          "priority", priority, Short.MIN_VALUE + " to " + Short.MAX_VALUE + ", smaller first");
    }
    return priority;
  }

  public static List<String> tags(List<String> tags) {
    if (tags.size() > TAGS) {
      throw HoldfastException.invalid("tags", tags.size() + " tags", "at most " + TAGS);
    }
    tags.forEach(tag -> name("tags", tag));
    return List.copyOf(tags);
  }

  public static String payload(String field, String json) {
    // A char takes at most three bytes in UTF-8; most payloads are too short to need counting.
    if (json.length() > PAYLOAD_BYTES / 3
        && json.getBytes(StandardCharsets.UTF_8).length > PAYLOAD_BYTES) {
      throw HoldfastException.invalid(
          field, json.length() + " characters of JSON", "at most " + PAYLOAD_BYTES + " bytes");
    }
    return json;
  }

  /**
   * Cuts text from handlers and workers to its longest length, because to refuse it would lose the
   * report itself. NUL, which PostgreSQL cannot store, is replaced.
   */
  public static String cut(String text, int maxChars) {
    String clean = text.indexOf('\0') < 0 ? text : text.replace('\0', '\uFFFD');
    if (clean.length() <= maxChars) {
      return clean;
    }
    int end = Character.isHighSurrogate(clean.charAt(maxChars - 1)) ? maxChars - 1 : maxChars;
    return clean.substring(0, end) + "… (cut)";
  }
}
