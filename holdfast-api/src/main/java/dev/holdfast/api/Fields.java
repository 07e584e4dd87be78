package dev.holdfast.api;

import dev.holdfast.error.ErrorCode;
import dev.holdfast.error.HoldfastException;
import java.math.BigDecimal;
import java.time.DateTimeException;
import java.time.Duration;
import java.time.Instant;
import java.time.OffsetDateTime;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.UUID;
import java.util.function.Function;
import java.util.regex.Pattern;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.node.ObjectNode;

/**
 * The fields of a JSON object, each read as the type that it must have. A wrong value throws {@code
 * INVALID_ARGUMENT} with the field's name and what is allowed. Null counts as absent, except for
 * {@link #says}.
 */
public final class Fields {

  private static final Duration LONGEST = Duration.ofDays(3_660);
  private static final Pattern UUID_IN_FULL =
      Pattern.compile("\\p{XDigit}{8}(-\\p{XDigit}{4}){3}-\\p{XDigit}{12}");

  private final String path;
  private final ObjectNode json;

  private Fields(String path, ObjectNode json) {
    this.path = path;
    this.json = json;
  }

  /** The fields of a node that must be an object. */
  public static Fields of(String name, JsonNode node) {
    if (node instanceof ObjectNode object) {
      return new Fields("", object);
    }
    throw HoldfastException.invalid(name, node, "a JSON object");
  }

  /** Refuses unknown fields: a typo must not become a default. */
  public Fields only(Set<String> known) {
    json.propertyNames().stream()
        .filter(name -> !known.contains(name))
        .findFirst()
        .ifPresent(name -> {
          throw HoldfastException.invalid(
              path + name, json.get(name), "known fields: " + known.stream().sorted().toList());
        });
    return this;
  }

  /** Whether the field is present, even as null. */
  public boolean says(String name) {
    return json.has(name);
  }

  public ObjectNode json() {
    return json;
  }

  private Optional<JsonNode> node(String name) {
    JsonNode node = json.path(name);
    return node.isMissingNode() || node.isNull() ? Optional.empty() : Optional.of(node);
  }

  /** A field with any JSON. */
  public Optional<JsonNode> any(String name) {
    return node(name);
  }

  public String text(String name) {
    return optionalText(name).orElseThrow(() -> missing(name, "text"));
  }

  public Optional<String> optionalText(String name) {
    return node(name).map(node -> text(path + name, node));
  }

  private static String text(String field, JsonNode node) {
    if (!node.isString()) {
      throw HoldfastException.invalid(field, node, "text");
    }
    return node.stringValue();
  }

  public UUID uuid(String name) {
    return optionalUuid(name).orElseThrow(() -> missing(name, "a UUID"));
  }

  public Optional<UUID> optionalUuid(String name) {
    return optionalText(name).map(text -> uuid(path + name, text));
  }

  /** Parses a UUID, which must be written in full. */
  public static UUID uuid(String field, String text) {
    if (!UUID_IN_FULL.matcher(text).matches()) { // Java also accepts shorter forms
      throw HoldfastException.invalid(field, text, "a UUID");
    }
    return UUID.fromString(text);
  }

  public long number(String name) {
    return optionalNumber(name).orElseThrow(() -> missing(name, "a whole number"));
  }

  public Optional<Long> optionalNumber(String name) {
    return node(name)
        .map(node -> {
          if (!node.isIntegralNumber() || !node.canConvertToLong()) {
            throw HoldfastException.invalid(path + name, node, "a whole number");
          }
          return node.longValue();
        });
  }

  public Optional<Integer> optionalInt(String name) {
    return optionalNumber(name)
        .map(number -> {
          if (number != number.intValue()) {
            throw HoldfastException.invalid(path + name, number, "a whole number below 2^31");
          }
          return number.intValue();
        });
  }

  public Optional<Double> optionalDouble(String name) {
    return node(name)
        .map(node -> {
          double number = node.isNumber() ? node.decimalValue().doubleValue() : Double.NaN;
          if (!Double.isFinite(number)) {
            throw HoldfastException.invalid(path + name, node, "a number");
          }
          return number;
        });
  }

  public Optional<Boolean> optionalBoolean(String name) {
    return node(name)
        .map(node -> {
          if (!node.isBoolean()) {
            throw HoldfastException.invalid(path + name, node, "true or false");
          }
          return node.booleanValue();
        });
  }

  public boolean flag(String name) {
    return optionalBoolean(name).orElse(false);
  }

  public Optional<Instant> optionalInstant(String name) {
    return optionalText(name).map(text -> instant(path + name, text));
  }

  public Instant instant(String name) {
    return optionalInstant(name).orElseThrow(() -> missing(name, "a moment"));
  }

  /** Parses a moment in ISO 8601, with its offset. */
  public static Instant instant(String field, String text) {
    try {
      return OffsetDateTime.parse(text).toInstant();
    } catch (DateTimeException e) {
      throw HoldfastException.invalid(field, text, "a moment like 2026-01-31T12:00:00Z");
    }
  }

  /** A duration in seconds, to the millisecond; none is negative. */
  public Optional<Duration> optionalSeconds(String name) {
    return node(name)
        .map(node -> {
          BigDecimal most = BigDecimal.valueOf(LONGEST.toSeconds());
          if (!node.isNumber()
              || node.decimalValue().signum() < 0
              || node.decimalValue().compareTo(most) > 0) {
            throw HoldfastException.invalid(path + name, node, "seconds, 0 to " + most);
          }
          return Duration.ofMillis(Math.round(node.doubleValue() * 1000));
        });
  }

  public List<String> texts(String name) {
    return list(name, node -> text(path + name, node));
  }

  public List<Fields> objects(String name) {
    List<Fields> objects = new ArrayList<>();
    list(name, Function.identity())
        .forEach(node -> {
          if (!(node instanceof ObjectNode object)) {
            throw HoldfastException.invalid(path + name, node, "a list of objects");
          }
          objects.add(new Fields("%s%s[%d].".formatted(path, name, objects.size()), object));
        });
    return objects;
  }

  /** A list that must be present. */
  public List<Fields> requiredObjects(String name) {
    if (node(name).isEmpty()) {
      throw missing(name, "a list of objects");
    }
    return objects(name);
  }

  /**
   * Reads something from these fields. If what is read refuses a value without knowing where it
   * stands, the refusal still says which object of a list it was in.
   */
  public <T> T read(Function<Fields, T> reader) {
    try {
      return reader.apply(this);
    } catch (HoldfastException e) {
      String message = String.valueOf(e.getMessage());
      if (e.code() != ErrorCode.INVALID_ARGUMENT || message.startsWith(path)) {
        throw e;
      }
      throw new HoldfastException(e.code(), path + message, e);
    }
  }

  private <T> List<T> list(String name, Function<JsonNode, T> read) {
    Optional<JsonNode> node = node(name);
    if (node.isEmpty()) {
      return List.of();
    }
    if (!node.get().isArray()) {
      throw HoldfastException.invalid(path + name, node.get(), "a list");
    }
    List<T> items = new ArrayList<>();
    node.get().forEach(item -> items.add(read.apply(item)));
    return items;
  }

  public Fields object(String name) {
    return optionalObject(name).orElseThrow(() -> missing(name, "a JSON object"));
  }

  public Optional<Fields> optionalObject(String name) {
    return node(name)
        .map(node -> {
          if (node instanceof ObjectNode object) {
            return new Fields(path + name + ".", object);
          }
          throw HoldfastException.invalid(path + name, node, "a JSON object");
        });
  }

  public Map<String, String> textMap(String name) {
    Map<String, String> map = new LinkedHashMap<>();
    optionalObject(name)
        .ifPresent(
            fields -> fields.json.propertyNames().forEach(key -> map.put(key, fields.text(key))));
    return map;
  }

  public HoldfastException missing(String name, String allowed) {
    return HoldfastException.invalid(path + name, "missing", allowed);
  }
}
