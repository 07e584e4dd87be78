package dev.holdfast.server.notify;

import dev.holdfast.Holdfast;
import dev.holdfast.invariant.Invariants;
import dev.holdfast.invariant.Overlooked;
import dev.holdfast.invariant.Violation;
import dev.holdfast.loop.Loop;
import dev.holdfast.tenant.TenantName;
import io.micrometer.core.instrument.Gauge;
import io.micrometer.core.instrument.MeterRegistry;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.atomic.AtomicInteger;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Checks the invariants of every tenant once a minute, one tenant after the other, and reports
 * violations in the log and in {@code holdfast.invariant.violations}. It repairs nothing. A check
 * takes the database some thirty milliseconds, so many tenants are each checked less often.
 */
public final class Inspector implements Loop.Step {

  private static final Logger log = LoggerFactory.getLogger(Inspector.class);

  private static final Duration ROUND = Duration.ofMinutes(1);
  private static final Duration SHORTEST_PAUSE = Duration.ofSeconds(1);

  private final Holdfast holdfast;
  private final Map<String, AtomicInteger> published = new HashMap<>();
  private final Deque<TenantName> left = new ArrayDeque<>();
  private final Map<String, Integer> found = new HashMap<>();
  private final Map<TenantName, Overlooked> overlooked = new HashMap<>(); // they remember
  private Duration pause = ROUND;

  public Inspector(Holdfast holdfast, MeterRegistry registry) {
    this.holdfast = holdfast;
    for (String id : Invariants.ids()) {
      AtomicInteger count = new AtomicInteger();
      published.put(id, count);
      Gauge.builder("holdfast.invariant.violations", count, AtomicInteger::get)
          .tag("id", id)
          .register(registry);
    }
  }

  @Override
  public Duration runOnce() {
    if (left.isEmpty()) {
      left.addAll(holdfast.tenants().list());
      overlooked.keySet().retainAll(left);
      Duration share = ROUND.dividedBy(Math.max(1, left.size()));
      pause = share.compareTo(SHORTEST_PAUSE) > 0 ? share : SHORTEST_PAUSE;
    }
    TenantName tenant = left.poll();
    if (tenant != null) {
      inspect(tenant);
    }
    if (left.isEmpty()) {
      published.forEach((id, count) -> count.set(found.getOrDefault(id, 0)));
      found.clear();
    }
    return pause;
  }

  private void inspect(TenantName tenant) {
    try {
      report(tenant, holdfast.invariants(tenant).check());
      report(tenant, overlooked.computeIfAbsent(tenant, holdfast::overlooked).look());
    } catch (RuntimeException e) {
      log.warn("Could not look at tenant {}; it may be gone", tenant, e);
    }
  }

  private void report(TenantName tenant, List<Violation> violations) {
    for (Violation violation : violations) {
      log.error("In tenant {}: {}", tenant, violation);
      found.merge(violation.id(), 1, Integer::sum);
    }
  }
}
