package dev.holdfast.server.http;

import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.LongSupplier;

/**
 * So many requests a second from each, with a second's worth saved up. Of this node alone: it keeps
 * one client from using the server up, it is not an account. Thread-safe.
 */
public final class Throttle {

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

  public Throttle(int perSecond, LongSupplier nanoTime) {
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
