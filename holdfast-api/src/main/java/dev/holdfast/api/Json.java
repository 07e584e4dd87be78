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
 * Reads and writes the JSON of the API. Numbers keep their digits, and a name that occurs twice in
 * an object is refused.
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

  /**
   * Parses JSON.
   *
   * @throws HoldfastException with {@code INVALID_ARGUMENT} for anything else
   */
  public static JsonNode parse(String field, String text) {
    try {
      JsonNode node = MAPPER.readTree(text);
      if (node.isMissingNode()) {
        throw HoldfastException.invalid(field, "empty", "JSON");
      }
      return node;
    } catch (JacksonException e) {
      throw HoldfastException.invalid(
          field, text.length() + " characters", "JSON; " + where(e)); // the text may hold a secret
    } catch (NumberFormatException e) { // for too large an exponent
      throw HoldfastException.invalid(
          field, text.length() + " characters", "JSON, with numbers of fewer digits");
    }
  }

  // The exception's own message would quote the text. It has no location for text that is too long
  // or too deep.
  private static String where(JacksonException e) {
    @Nullable TokenStreamLocation at = e.getLocation();
    return at == null
        ? "this is too long or too deep"
        : "this goes wrong at line %d, column %d".formatted(at.getLineNr(), at.getColumnNr());
  }

  /**
   * Writes JSON.
   *
   * @throws HoldfastException with {@code BAD_PAYLOAD} for what is nested too deeply
   */
  public static String write(JsonNode node) {
    try {
      return MAPPER.writeValueAsString(node);
    } catch (JacksonException e) {
      throw new HoldfastException(ErrorCode.BAD_PAYLOAD, String.valueOf(e.getOriginalMessage()), e);
    }
  }

  /** Writes arguments and results as they were stored, character by character. */
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
