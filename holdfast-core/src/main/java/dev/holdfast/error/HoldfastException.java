package dev.holdfast.error;

import java.math.BigDecimal;
import java.time.Duration;

/**
 * The exception that Holdfast throws when something goes wrong. Expected results, such as a lost
 * lease, are return values.
 */
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
   * For a value from outside that cannot be accepted. The message names the field, the value and
   * what is allowed.
   */
  public static HoldfastException invalid(String field, Object value, String allowed) {
    return new HoldfastException(
        ErrorCode.INVALID_ARGUMENT, field + " is " + shown(value) + "; allowed: " + allowed);
  }

  /**
   * For a setting that would make the engine unsafe or useless. It is refused at the start, never
   * corrected.
   */
  public static HoldfastException badConfig(String setting, Object value, String allowed) {
    return new HoldfastException(
        ErrorCode.BAD_CONFIG, setting + " is " + shown(value) + "; allowed: " + allowed);
  }

  public ErrorCode code() {
    return code;
  }

  // A very long value must not be repeated in the message that refuses it.
  private static String shown(Object value) {
    String text = value instanceof CharSequence ? "\"" + value + "\"" : String.valueOf(value);
    if (value instanceof Duration length) {
      text = seconds(length); // whoever sent seconds over HTTP cannot be expected to read PT-1S
    }
    return text.length() <= 100 ? text : text.substring(0, 100) + "…";
  }

  private static String seconds(Duration length) {
    BigDecimal seconds =
        BigDecimal.valueOf(length.getSeconds()).add(BigDecimal.valueOf(length.getNano(), 9));
    return seconds.stripTrailingZeros().toPlainString() + " s";
  }
}
