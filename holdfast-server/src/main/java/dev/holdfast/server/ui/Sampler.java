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
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.ConcurrentHashMap;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Takes every tenant's pulse, one after the other: each every five seconds where they are few, less
 * often where they are many. A sample reads two counts, a sequence and an index's end. Thread-safe.
 */
public final class Sampler implements Loop.Step {

  private static final Logger log = LoggerFactory.getLogger(Sampler.class);

  private static final Duration ROUND = Duration.ofSeconds(5);
  private static final Duration SHORTEST_PAUSE = Duration.ofMillis(20);

  private final Holdfast holdfast;
  private final Map<TenantName, Pulse> pulses = new ConcurrentHashMap<>();
  private final Deque<TenantName> left = new ArrayDeque<>();
  private Duration pause = ROUND;

  public Sampler(Holdfast holdfast) {
    this.holdfast = holdfast;
  }

  Pulse pulse(TenantName tenant) {
    return pulses.computeIfAbsent(tenant, name -> new Pulse());
  }

  @Override
  public Duration runOnce() {
    if (left.isEmpty()) {
      List<TenantName> all = holdfast.tenants().list();
      pulses.keySet().retainAll(all);
      left.addAll(all);
      Duration share = ROUND.dividedBy(Math.max(1, all.size()));
      pause = share.compareTo(SHORTEST_PAUSE) > 0 ? share : SHORTEST_PAUSE;
    }
    TenantName tenant = left.poll();
    if (tenant != null) {
      sample(tenant);
    }
    return pause;
  }

  private void sample(TenantName tenant) {
    try {
      Overview overview = new Overview(holdfast.tenants().tenant(tenant));
      Pulse pulse = pulse(tenant);
      Instant since = pulse.lastAt().orElseGet(overview::now);
      Counters counters = overview.counters(since);
      Optional<Waits> waits = overview.waits(since);
      pulse.add(counters, waits);
    } catch (RuntimeException e) {
      log.debug("Could not take the pulse of tenant {}; it may be gone", tenant, e);
    }
  }
}
