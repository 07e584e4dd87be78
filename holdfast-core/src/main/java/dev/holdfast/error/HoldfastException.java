package dev.holdfast.error;

/** The one exception Holdfast throws for the unexpected. Expected answers are return values. */
public final class HoldfastException extends RuntimeException {

  private static final long serialVersionUID = 1L;

  private final ErrorCode code;

  public HoldfastException(ErrorCode code, String message) {
    super(message);
    this.code = code;
  }

  public HoldfastException(ErrorCode code, String message, Throwable cause) {
    super(message, cause);
    this.code = code;
  }

  /**
   * A value from outside that cannot be accepted: names the field, what came, and what is allowed.
   */
  public static HoldfastException invalid(String field, Object value, String allowed) {
    return new HoldfastException(
        ErrorCode.INVALID_ARGUMENT, field + " is " + shown(value) + "; allowed: " + allowed);
  }

  /** A setting that would make the engine unsafe or useless: refused at start, never corrected. */
  public static HoldfastException badConfig(String setting, Object value, String allowed) {
    return new HoldfastException(
        ErrorCode.BAD_CONFIG, setting + " is " + shown(value) + "; allowed: " + allowed);
  }

  public ErrorCode code() {
    return code;
  }

  // A hostile megabyte must not come back in the message that refuses it.
  private static String shown(Object value) {
    String text = value instanceof CharSequence ? "\"" + value + "\"" : String.valueOf(value);
    return text.length() <= 100 ? text : text.substring(0, 100) + "…";
  }
}
