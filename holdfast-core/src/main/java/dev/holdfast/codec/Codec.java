package dev.holdfast.codec;

/**
 * Turns arguments and results into JSON and back. Implement it to change how your types are
 * written. Implementations are thread-safe, and throw a {@link
 * dev.holdfast.error.HoldfastException} with {@code BAD_PAYLOAD} for what they cannot convert.
 */
public interface Codec {

  String encode(Object value);

  <T> T decode(String json, Class<T> type);
}
