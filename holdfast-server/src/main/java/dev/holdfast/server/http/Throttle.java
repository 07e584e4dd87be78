package dev.holdfast.server.http;

import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.LongSupplier;

/**
 * At most N requests per second and key, with bursts of up to one second's worth. Per node: it
 * protects the server from a single client, it does not account for usage. Thread-safe.
 */
final class Throttle {

  private static final double NANOS = 1e9;
  private static final int MOST_KNOWN = 100_000;

  private static final class Bucket {
    private double left;
    private long filledAtNanos;

    private Bucket(double left, long filledAtNanos) {
      this.left = left;
      this.filledAtNanos = filledAtNanos;
    }
  }

  private final int perSecond;
  private final LongSupplier nanoTime;
  private final Map<String, Bucket> buckets = new ConcurrentHashMap<>();

  Throttle(int perSecond, LongSupplier nanoTime) {
    this.perSecond = perSecond;
    this.nanoTime = nanoTime;
  }

  boolean admits(String who) {
    if (buckets.size() > MOST_KNOWN) {
      buckets.clear();
    }
    long now = nanoTime.getAsLong();
    Bucket bucket = buckets.computeIfAbsent(who, key -> new Bucket(perSecond, now));
    synchronized (bucket) {
      double gained = (now - bucket.filledAtNanos) / NANOS * perSecond;
      bucket.left = Math.min(perSecond, bucket.left + Math.max(0, gained));
      bucket.filledAtNanos = now;
      if (bucket.left < 1) {
        return false;
      }
      bucket.left -= 1;
      return true;
    }
  }
}
