package dev.holdfast.server.poll;

import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;

/** At most N concurrent requests per key, counted on this node only. Thread-safe. */
public final class ConcurrencyLimit {

  private final int most;
  private final Map<String, Integer> inside = new ConcurrentHashMap<>();

  public ConcurrencyLimit(int most) {
    this.most = most;
  }

  /** False when the key is at its limit. After true, the caller must call {@link #leave}. */
  public boolean enter(String who) {
    int[] before = {0};
    inside.compute(
        who,
        (key, count) -> {
          before[0] = count == null ? 0 : count;
          return Math.min(most, before[0] + 1);
        });
    return before[0] < most;
  }

  public void leave(String who) {
    inside.computeIfPresent(who, (key, count) -> count <= 1 ? null : count - 1);
  }
}
