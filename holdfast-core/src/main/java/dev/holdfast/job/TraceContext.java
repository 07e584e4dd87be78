package dev.holdfast.job;

import dev.holdfast.error.HoldfastException;
import java.util.Optional;
import java.util.regex.Pattern;

/**
 * The trace that a job belongs to, in the format of W3C Trace Context.
 *
 * @param parent the value of {@code traceparent}
 * @param state the value of {@code tracestate} that belongs to it
 */
public record TraceContext(String parent, Optional<String> state) {

  // Later versions of the format may append fields. Neither id may consist of zeros only.
  private static final Pattern PARENT =
      Pattern.compile(
          "(?!ff)[0-9a-f]{2}-(?!0{32})[0-9a-f]{32}-(?!0{16})[0-9a-f]{16}-[0-9a-f]{2}(-[!-~]*)?");
  private static final int MOST_PARENT_CHARS = 200;
  private static final Pattern STATE = Pattern.compile("[ -~]{1,512}");
  private static final int ID_FROM = 3;
  private static final int ID_TO = ID_FROM + 32;

  public TraceContext {
    if (!isParent(parent)) {
      throw HoldfastException.invalid(
          "traceparent", parent, "00-<32 hexadecimal digits>-<16 of them>-<2>, in lower case");
    }
    state
        .filter(said -> !STATE.matcher(said).matches())
        .ifPresent(said -> {
          throw HoldfastException.invalid(
              "tracestate", said.length() + " characters", "1 to 512 printable ones");
        });
  }

  private static boolean isParent(String text) {
    return text.length() <= MOST_PARENT_CHARS && PARENT.matcher(text).matches();
  }

  /** Reads HTTP headers. A malformed header is ignored. */
  public static Optional<TraceContext> ofHeaders(Optional<String> parent, Optional<String> state) {
    return parent
        .filter(TraceContext::isParent)
        .map(said -> new TraceContext(said, state.filter(text -> STATE.matcher(text).matches())));
  }

  /** The id that all spans of the trace share. */
  public String traceId() {
    return parent.substring(ID_FROM, ID_TO);
  }
}
