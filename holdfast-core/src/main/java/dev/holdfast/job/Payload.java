package dev.holdfast.job;

/** JSON text, stored and passed on unchanged. */
public record Payload(String json) {

  public static final Payload NULL = new Payload("null");

  /** The empty object. */
  public static final Payload EMPTY = new Payload("{}");

  public Payload {
    Limits.payload("payload", json);
  }
}
