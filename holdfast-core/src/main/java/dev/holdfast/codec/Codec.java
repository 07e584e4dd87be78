package dev.holdfast.codec;

/**
 * Turns arguments and results into JSON and back. Bring your own to change how your types are
 * written. Thread-safe.
 */
public interface Codec {

  String encode(Object value);

  <T> T decode(String json, Class<T> type);
}
