package dev.holdfast.server.ui;

import dev.holdfast.Holdfast;
import dev.holdfast.loop.Loop;
import dev.holdfast.overview.Counters;
import dev.holdfast.overview.Overview;
import dev.holdfast.overview.Overview.Waits;
import dev.holdfast.tenant.TenantName;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Samples the activity of tenants every five seconds: of all tenants that are being looked at, and
 * of some of the others in turn, to bound the work. A sample reads two counts, a sequence and the
 * end of an index. Thread-safe.
 */
public final class Sampler implements Loop.Step {

  private static final Logger log = LoggerFactory.getLogger(Sampler.class);

  private static final Duration ROUND = Duration.ofSeconds(5);
  private static final int MOST_IN_TURN = 50;
  private static final Duration LOOKED_AT = Duration.ofMinutes(10);

  private final Holdfast holdfast;
  private final Map<TenantName, RecentActivity> activities = new ConcurrentHashMap<>();
  private final Map<TenantName, Long> lookedAtNanos = new ConcurrentHashMap<>();
  private final Deque<TenantName> left = new ArrayDeque<>();

  public Sampler(Holdfast holdfast) {
    this.holdfast = holdfast;
  }

  /** The activity of a tenant that is being looked at. */
  RecentActivity activity(TenantName tenant) {
    lookedAtNanos.put(tenant, System.nanoTime());
    return of(tenant);
  }

  private RecentActivity of(TenantName tenant) {
    return activities.computeIfAbsent(tenant, name -> new RecentActivity());
  }

  @Override
  public Duration runOnce() {
    List<TenantName> all = holdfast.tenants().list();
    activities.keySet().retainAll(all);
    lookedAtNanos.keySet().retainAll(all);
    long since = System.nanoTime() - LOOKED_AT.toNanos();
    lookedAtNanos.values().removeIf(at -> at - since < 0);
    Set<TenantName> now = new LinkedHashSet<>(lookedAtNanos.keySet());
    for (int i = 0; i < Math.min(MOST_IN_TURN, all.size()); i++) {
      if (left.isEmpty()) {
        left.addAll(all);
      }
      now.add(left.remove());
    }
    now.forEach(this::sample);
    return ROUND;
  }

  private void sample(TenantName tenant) {
    try {
      Overview overview = new Overview(holdfast.tenants().tenant(tenant));
      RecentActivity activity = of(tenant);
      Instant since = activity.lastAt().orElseGet(overview::now);
      Counters counters = overview.counters(since);
      Optional<Waits> waits = overview.waits(since);
      activity.add(counters, waits);
    } catch (RuntimeException e) {
      log.debug("Could not sample the activity of tenant {}; it may be gone", tenant, e);
    }
  }
}
