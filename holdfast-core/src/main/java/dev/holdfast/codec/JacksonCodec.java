package dev.holdfast.codec;

import dev.holdfast.error.ErrorCode;
import dev.holdfast.error.HoldfastException;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import tools.jackson.core.JacksonException;
import tools.jackson.databind.ObjectReader;
import tools.jackson.databind.json.JsonMapper;

/** The codec used when no other is given. */
public final class JacksonCodec implements Codec {

  private final JsonMapper mapper;
  // To find out how to read a type costs several times as much as to read a small value.
  private final Map<Class<?>, ObjectReader> readers = new ConcurrentHashMap<>();

  public JacksonCodec() {
    this(JsonMapper.shared());
  }

  public JacksonCodec(JsonMapper mapper) {
    this.mapper = mapper;
  }

  @Override
  public String encode(Object value) {
    try {
      return mapper.writeValueAsString(value);
    } catch (JacksonException e) {
      throw new HoldfastException(
          ErrorCode.BAD_PAYLOAD, value.getClass().getName() + " cannot be written as JSON", e);
    }
  }

  @Override
  public <T> T decode(String json, Class<T> type) {
    try {
      return type.cast(readers.computeIfAbsent(type, mapper::readerFor).readValue(json));
    } catch (JacksonException | NumberFormatException e) { // for too large an exponent
      throw new HoldfastException(
          ErrorCode.BAD_PAYLOAD, "JSON cannot be read as " + type.getName(), e);
    }
  }
}
