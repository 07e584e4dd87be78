package dev.holdfast.api;

import dev.holdfast.error.ErrorCode;
import dev.holdfast.error.HoldfastException;
import dev.holdfast.job.Payload;
import java.time.Duration;
import java.time.Instant;
import java.util.Optional;
import org.jspecify.annotations.Nullable;
import tools.jackson.core.JacksonException;
import tools.jackson.core.StreamReadFeature;
import tools.jackson.core.TokenStreamLocation;
import tools.jackson.databind.DeserializationFeature;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.cfg.JsonNodeFeature;
import tools.jackson.databind.json.JsonMapper;
import tools.jackson.databind.node.ArrayNode;
import tools.jackson.databind.node.ObjectNode;
import tools.jackson.databind.util.RawValue;

/**
 * JSON as it goes over the wire. Numbers keep their digits, and what is twice in an object is
 * refused.
 */
public final class Json {

  private static final JsonMapper MAPPER =
      JsonMapper.builder()
          .enable(DeserializationFeature.USE_BIG_DECIMAL_FOR_FLOATS)
          .enable(DeserializationFeature.FAIL_ON_TRAILING_TOKENS)
          .enable(StreamReadFeature.STRICT_DUPLICATE_DETECTION)
          .disable(JsonNodeFeature.STRIP_TRAILING_BIGDECIMAL_ZEROES)
          .build();

  private Json() {}

  public static ObjectNode object() {
    return MAPPER.createObjectNode();
  }

  public static ArrayNode array() {
    return MAPPER.createArrayNode();
  }

  /** Refuses what is not JSON. */
  public static JsonNode parse(String field, String text) {
    try {
      JsonNode node = MAPPER.readTree(text);
      if (node.isMissingNode()) {
        throw HoldfastException.invalid(field, "empty", "JSON");
      }
      return node;
    } catch (JacksonException e) {
      throw HoldfastException.invalid(
          field, text.length() + " characters", "JSON; " + where(e)); // it may hold a secret
    } catch (NumberFormatException e) { // of a number whose exponent is beyond counting
      throw HoldfastException.invalid(
          field, text.length() + " characters", "JSON, with numbers of fewer digits");
    }
  }

  // Its own words show what stands there. Of what is too long or too deep it does not say where.
  private static String where(JacksonException e) {
    @Nullable TokenStreamLocation at = e.getLocation();
    return at == null
        ? "this is too long or too deep"
        : "this goes wrong at line %d, column %d".formatted(at.getLineNr(), at.getColumnNr());
  }

  /** Refuses what is nested deeper than anybody reads. */
  public static String write(JsonNode node) {
    try {
      return MAPPER.writeValueAsString(node);
    } catch (JacksonException e) {
      throw new HoldfastException(ErrorCode.BAD_PAYLOAD, String.valueOf(e.getOriginalMessage()), e);
    }
  }

  /** Arguments and results go out as they were stored, letter by letter. */
  public static void put(ObjectNode json, String field, Payload payload) {
    json.putRawValue(field, new RawValue(payload.json()));
  }

  public static void put(ObjectNode json, String field, Optional<?> value) {
    value.ifPresentOrElse(
        there -> json.put(field, String.valueOf(there)), () -> json.putNull(field));
  }

  public static void put(ObjectNode json, String field, @Nullable Instant moment) {
    json.put(field, moment == null ? null : moment.toString());
  }

  public static double seconds(Duration length) {
    return length.toMillis() / 1000.0;
  }
}
