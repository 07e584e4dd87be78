package dev.holdfast.job;

import dev.holdfast.error.HoldfastException;
import java.util.Optional;
import java.util.regex.Pattern;

/**
 * The trace that a job belongs to, as W3C Trace Context says it.
 *
 * @param parent the value of {@code traceparent}
 * @param state that of {@code tracestate}, which goes with it
 */
public record TraceContext(String parent, Optional<String> state) {

  // Later versions may say more after these four; neither number may be nothing but zeros.
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

  /** As headers say it; one that makes no sense is to be ignored. */
  public static Optional<TraceContext> ofHeaders(Optional<String> parent, Optional<String> state) {
    return parent
        .filter(TraceContext::isParent)
        .map(said -> new TraceContext(said, state.filter(text -> STATE.matcher(text).matches())));
  }

  /** What all spans of the trace share. */
  public String traceId() {
    return parent.substring(ID_FROM, ID_TO);
  }
}
