package dev.holdfast.job;

/** JSON text, stored and handed on word for word. */
public record Payload(String json) {

  public static final Payload NULL = new Payload("null");

  /** An object that says nothing. */
  public static final Payload EMPTY = new Payload("{}");

  public Payload {
    Limits.payload("payload", json);
  }
}
