package dev.holdfast.lease;

import dev.holdfast.tenant.SqlErrors;
import dev.holdfast.tenant.Tenant;
import dev.holdfast.tenant.TenantGroup;
import java.time.Duration;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
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
  private List<TenantGroup> groups = List.of();

  public Reapers(Function<Tenant, Reaper> make) {
    this.make = make;
  }

  /** Looks after all tenants; answers when to do so again, after {@code period} at the latest. */
  public Duration runOnce(List<Tenant> tenants, Duration period) {
    Set<String> names =
        tenants.stream().map(tenant -> tenant.name().value()).collect(Collectors.toSet());
    if (!reapers.keySet().equals(names)) {
      reapers.keySet().retainAll(names);
      tenants.forEach(
          each -> reapers.computeIfAbsent(each.name().value(), name -> make.apply(each)));
      groups = TenantGroup.of(tenants, Outlook.LOOK);
    }
    Duration soonest = period;
    for (TenantGroup group : groups) {
      Map<String, Outlook> outlooks = look(group);
      for (Tenant tenant : group.tenants()) {
        soonest =
            run(tenant, Optional.ofNullable(outlooks.get(tenant.db().schema().value())), soonest);
      }
    }
    return soonest;
  }

  // One that cannot be looked at, say because it was dropped, must not hide the others: then each
  // looks for itself.
  private static Map<String, Outlook> look(TenantGroup group) {
    if (group.tenants().size() == 1) {
      return Map.of();
    }
    try {
      return group
          .tenants()
          .getFirst()
          .db()
          .withHandle(handle -> Outlook.read(handle, group.sql()));
    } catch (RuntimeException e) {
      log.debug("Could not look at {} tenants together", group.tenants().size(), e);
      return Map.of();
    }
  }

  private Duration run(Tenant tenant, Optional<Outlook> outlook, Duration period) {
    Reaper reaper = Objects.requireNonNull(reapers.get(tenant.name().value()));
    try {
      if (outlook.isPresent()) {
        reaper.runOnce(outlook.get());
      } else {
        reaper.runOnce();
      }
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
