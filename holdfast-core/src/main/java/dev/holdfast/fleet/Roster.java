package dev.holdfast.fleet;

import java.util.Map;
import java.util.Set;
import java.util.UUID;
import java.util.concurrent.ConcurrentHashMap;

/**
 * Which workers each tenant has, as far as this process knows: those that are stored, by the last
 * look at the table, and those that came since. A tenant has at most so many of both; whoever is
 * known stays so, however many new ones come. Several processes may each admit that many before
 * they see each other's. Thread-safe.
 */
final class Roster {

  private final int most;
  private final Map<String, Set<UUID>> fresh = new ConcurrentHashMap<>();
  private volatile Map<String, Set<UUID>> stored = Map.of();

  Roster(int most) {
    this.most = most;
  }

  /** Whether the worker is known, or there is room for one more; it is known from now on. */
  boolean admits(String tenant, UUID worker) {
    Set<UUID> known = stored.getOrDefault(tenant, Set.of());
    if (known.contains(worker)) {
      return true;
    }
    Set<UUID> came = fresh.computeIfAbsent(tenant, key -> ConcurrentHashMap.newKeySet());
    synchronized (came) {
      return came.contains(worker) || (known.size() + came.size() < most && came.add(worker));
    }
  }

  /**
   * Takes over what is stored now.
   *
   * @param waiting those who came, and are not stored yet
   */
  void stored(Map<String, Set<UUID>> now, Set<UUID> waiting) {
    stored = now;
    fresh.forEach((tenant, came) -> {
      Set<UUID> known = now.getOrDefault(tenant, Set.of());
      synchronized (came) {
        came.removeIf(worker -> known.contains(worker) || !waiting.contains(worker));
      }
    });
    fresh.values().removeIf(Set::isEmpty); // tenants come and go
  }
}
