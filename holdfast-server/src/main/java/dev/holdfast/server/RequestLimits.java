package dev.holdfast.server;

import dev.holdfast.error.HoldfastException;
import java.time.Duration;

/**
 * What one token may ask of a node.
 *
 * @param perSecond requests per second
 * @param longPolls concurrent long-polls
 * @param streams concurrent streams of events and logs
 * @param mostBytes size of one request
 * @param patience how long one request may keep arriving at less than 1 KB/s
 */
public record RequestLimits(
    int perSecond, int longPolls, int streams, long mostBytes, Duration patience) {

  private static final Duration A_MINUTE = Duration.ofSeconds(60);

  static final RequestLimits DEFAULTS = new RequestLimits(10_000, 5_000, 200, 16L << 20);

  private static final long LEAST_BYTES = 1_024;
  private static final long LEAST_SECONDS = 1;

  public RequestLimits {
    check("perSecond", perSecond, 1);
    check("longPolls", longPolls, 1);
    check("streams", streams, 1);
    check("mostBytes", mostBytes, LEAST_BYTES);
    check("patience", patience.toSeconds(), LEAST_SECONDS);
  }

  /** Requests may arrive slowly for a minute. */
  public RequestLimits(int perSecond, int longPolls, int streams, long mostBytes) {
    this(perSecond, longPolls, streams, mostBytes, A_MINUTE);
  }

  public RequestLimits withPatience(Duration patience) {
    return new RequestLimits(perSecond, longPolls, streams, mostBytes, patience);
  }

  private static void check(String field, long number, long least) {
    if (number < least) {
      throw HoldfastException.badConfig(field, number, least + " or more");
    }
  }
}
