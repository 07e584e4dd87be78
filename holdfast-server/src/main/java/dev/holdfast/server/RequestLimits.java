package dev.holdfast.server;

import dev.holdfast.error.HoldfastException;

/**
 * What one token may ask of a node.
 *
 * @param perSecond requests
 * @param longPolls at once
 * @param streams of events and logs, at once
 * @param mostBytes of one request
 */
public record RequestLimits(int perSecond, int longPolls, int streams, long mostBytes) {

  static final RequestLimits DEFAULTS = new RequestLimits(10_000, 5_000, 200, 16L << 20);

  private static final long LEAST_BYTES = 1_024;

  public RequestLimits {
    check("perSecond", perSecond, 1);
    check("longPolls", longPolls, 1);
    check("streams", streams, 1);
    check("mostBytes", mostBytes, LEAST_BYTES);
  }

  private static void check(String field, long number, long least) {
    if (number < least) {
      throw HoldfastException.badConfig(field, number, least + " or more");
    }
  }
}
