package dev.holdfast.lease;

import dev.holdfast.tenant.SqlErrors;
import dev.holdfast.tenant.Tenant;
import java.time.Duration;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.function.Function;
import java.util.stream.Collectors;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** A reaper for every tenant that a worker serves. For one thread. */
public final class Reapers {

  private static final Logger log = LoggerFactory.getLogger(Reapers.class);

  private final Function<Tenant, Reaper> make;
  private final Map<String, Reaper> reapers = new HashMap<>();

  public Reapers(Function<Tenant, Reaper> make) {
    this.make = make;
  }

  /** Looks after all tenants; answers when to do so again, after {@code period} at the latest. */
  public Duration runOnce(List<Tenant> tenants, Duration period) {
    Set<String> names =
        tenants.stream().map(tenant -> tenant.name().value()).collect(Collectors.toSet());
    reapers.keySet().retainAll(names);
    Duration soonest = period;
    for (Tenant tenant : tenants) {
      soonest = run(tenant, soonest);
    }
    return soonest;
  }

  private Duration run(Tenant tenant, Duration period) {
    Reaper reaper = reapers.computeIfAbsent(tenant.name().value(), name -> make.apply(tenant));
    try {
      reaper.runOnce();
      return reaper.untilNext(period);
    } catch (RuntimeException e) {
      // One that was dropped since the tenants were listed is no news; whatever it is with one, the
      // others still want to be looked after.
      if (!SqlErrors.isTenantGone(e)) {
        log.warn("Could not look after tenant {}", tenant.name(), e);
      }
      return period;
    }
  }
}
