package dev.holdfast.reap;

import dev.holdfast.tenant.SqlErrors;
import dev.holdfast.tenant.Survey;
import dev.holdfast.tenant.Tenant;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.function.Consumer;
import java.util.function.Function;
import java.util.stream.Collectors;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Runs a reaper for every tenant that a worker serves. For one thread. */
public final class Reapers {

  private static final Logger log = LoggerFactory.getLogger(Reapers.class);

  // Where tenants are many, each is swept less often: a sweep takes a few milliseconds.
  private static final double MOST_SWEPT_PER_RUN = 10;

  private final Function<Tenant, Reaper> make;
  private final Map<String, Reaper> reapers = new HashMap<>();
  private final Deque<Tenant> toSweep = new ArrayDeque<>();
  private double sweepsDue;
  private long runs;
  private final Survey outlook = new Survey(Outlook.LOOK);
  private final Function<Duration, Downtime> measure;

  /**
   * @param measure tells, once in every round, for how long workers could not renew their leases;
   *     it is given how long the database server has been running
   */
  public Reapers(Function<Tenant, Reaper> make, Function<Duration, Downtime> measure) {
    this.make = make;
    this.measure = measure;
  }

  /** Runs all reapers; returns how long to wait until the next run, at most {@code period}. */
  public Duration runOnce(List<Tenant> tenants, Duration period) {
    Set<String> names =
        tenants.stream().map(tenant -> tenant.name().value()).collect(Collectors.toSet());
    if (!reapers.keySet().equals(names)) {
      reapers.keySet().retainAll(names);
      tenants.forEach(
          each -> reapers.computeIfAbsent(each.name().value(), name -> make.apply(each)));
    }
    Map<Tenant, List<Outlook>> outlooks = outlook.ask(tenants, Outlook::bind, Outlook::read);
    Downtime downtime =
        outlooks.values().stream()
            .flatMap(List::stream)
            .findAny() // all tenants are on one server
            .map(any -> measure.apply(any.serverUp()))
            .orElse(Downtime.NONE);
    Duration soonest = period;
    for (Tenant tenant : tenants) {
      for (Outlook found : outlooks.getOrDefault(tenant, List.of())) {
        soonest = run(tenant, reaper -> reaper.runOnce(found, downtime), soonest);
      }
    }
    sweepSome(tenants);
    return soonest;
  }

  private void sweepSome(List<Tenant> tenants) {
    if (++runs < Reaper.RUNS_PER_SWEEP) {
      return; // a worker that has just started has more urgent work
    }
    sweepsDue += Math.min(MOST_SWEPT_PER_RUN, (double) tenants.size() / Reaper.RUNS_PER_SWEEP);
    for (; sweepsDue >= 1; sweepsDue--) {
      if (toSweep.isEmpty()) {
        toSweep.addAll(tenants);
      }
      Tenant next = toSweep.poll();
      if (next != null && reapers.containsKey(next.name().value())) {
        Duration unused = run(next, Reaper::sweep, Duration.ZERO);
      }
    }
  }

  private Duration run(Tenant tenant, Consumer<Reaper> work, Duration period) {
    Reaper reaper = Objects.requireNonNull(reapers.get(tenant.name().value()));
    try {
      work.accept(reaper);
      return reaper.untilNext(period);
    } catch (RuntimeException e) {
      // That a tenant was dropped since the tenants were listed is no news. Whatever is wrong with
      // one tenant, the others' reapers still run.
      if (!SqlErrors.isTenantGone(e)) {
        log.warn("Could not look after tenant {}", tenant.name(), e);
      }
      return period;
    }
  }
}
