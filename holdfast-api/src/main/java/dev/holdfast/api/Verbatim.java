package dev.holdfast.api;

import dev.holdfast.error.ErrorCode;
import dev.holdfast.error.HoldfastException;
import java.util.Set;
import tools.jackson.core.JacksonException;
import tools.jackson.core.JsonParser;
import tools.jackson.core.JsonToken;
import tools.jackson.core.ObjectReadContext;
import tools.jackson.core.StreamReadConstraints;
import tools.jackson.core.json.JsonFactory;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.node.ArrayNode;
import tools.jackson.databind.node.JsonNodeFactory;
import tools.jackson.databind.node.ObjectNode;
import tools.jackson.databind.util.RawValue;

/**
 * Reads a server's answer and keeps arguments and results in it as they are, character by
 * character. They come from other applications, and {@link Json} might refuse them for deep nesting
 * or duplicate names. That should fail in the one handler that they are meant for, and not keep a
 * worker from the other jobs of the same answer.
 */
final class Verbatim {

  private static final Set<String> SOMEBODY_ELSES = Set.of("args", "result");

  private static final JsonFactory FACTORY =
      JsonFactory.builder()
          .streamReadConstraints(
              StreamReadConstraints.builder()
                  .maxNestingDepth(Integer.MAX_VALUE)
                  .maxNumberLength(Integer.MAX_VALUE)
                  .maxNameLength(Integer.MAX_VALUE)
                  .maxStringLength(Integer.MAX_VALUE)
                  .build())
          .build();

  private final String text;
  private final JsonParser parser;

  private Verbatim(String text, JsonParser parser) {
    this.text = text;
    this.parser = parser;
  }

  static JsonNode read(String text) {
    try (JsonParser parser = FACTORY.createParser(ObjectReadContext.empty(), text)) {
      parser.nextToken();
      return new Verbatim(text, parser).value();
    } catch (JacksonException e) {
      throw new HoldfastException(ErrorCode.UNAVAILABLE, "the server's answer is not JSON", e);
    }
  }

  private JsonNode value() {
    JsonToken token = parser.currentToken();
    return switch (token) {
      case START_OBJECT -> object();
      case START_ARRAY -> array();
      case VALUE_STRING -> JsonNodeFactory.instance.stringNode(parser.getString());
      case VALUE_NUMBER_INT -> JsonNodeFactory.instance.numberNode(parser.getBigIntegerValue());
      case VALUE_NUMBER_FLOAT -> JsonNodeFactory.instance.numberNode(parser.getDecimalValue());
      case VALUE_TRUE -> JsonNodeFactory.instance.booleanNode(true);
      case VALUE_FALSE -> JsonNodeFactory.instance.booleanNode(false);
      case VALUE_NULL -> JsonNodeFactory.instance.nullNode();
      case null, default ->
          throw new HoldfastException(ErrorCode.UNAVAILABLE, "the server's answer is cut off");
    };
  }

  private ObjectNode object() {
    ObjectNode object = Json.object();
    while (parser.nextToken() == JsonToken.PROPERTY_NAME) {
      String name = parser.currentName();
      parser.nextToken();
      object.set(name, SOMEBODY_ELSES.contains(name) ? untouched() : value());
    }
    return object;
  }

  private ArrayNode array() {
    ArrayNode array = Json.array();
    while (parser.nextToken() != JsonToken.END_ARRAY) {
      array.add(value());
    }
    return array;
  }

  private JsonNode untouched() {
    JsonToken token = parser.currentToken();
    if (token == JsonToken.VALUE_NULL) {
      return JsonNodeFactory.instance.nullNode();
    }
    int start = Math.toIntExact(parser.currentTokenLocation().getCharOffset());
    if (token.isStructStart()) {
      parser.skipChildren();
    } else {
      parser.finishToken();
    }
    int end = Math.toIntExact(parser.currentLocation().getCharOffset());
    return JsonNodeFactory.instance.rawValueNode(new RawValue(text.substring(start, end)));
  }
}
