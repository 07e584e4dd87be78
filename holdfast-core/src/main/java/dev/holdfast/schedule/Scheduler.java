package dev.holdfast.schedule;

import dev.holdfast.loop.Loop;
import dev.holdfast.tenant.SqlErrors;
import dev.holdfast.tenant.TenantName;
import java.time.Duration;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.function.Function;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The role that schedules: a process without a started one never decides about a slot. Any number
 * of processes may have one. Close it when done.
 */
public final class Scheduler implements AutoCloseable {

  private static final Logger log = LoggerFactory.getLogger(Scheduler.class);

  // How late a schedule is noticed that somebody made elsewhere.
  private static final Duration LONGEST_PAUSE = Duration.ofSeconds(2);

  private final Supplier<List<TenantName>> tenants;
  private final Function<TenantName, Ticker> make;
  private final Map<TenantName, Ticker> tickers = new HashMap<>();
  private @Nullable Loop loop;

  /** For the tenants that there are at the time. */
  public Scheduler(Supplier<List<TenantName>> tenants, Function<TenantName, Ticker> make) {
    this.tenants = tenants;
    this.make = make;
  }

  /** Begins to decide about slots, on a thread of its own. */
  public synchronized Scheduler start() {
    if (loop != null) {
      throw new IllegalStateException("this scheduler was started already");
    }
    loop = Loop.start("holdfast-schedule", this::runOnce);
    return this;
  }

  /** Decides about all that is due now, in the calling thread; answers how long to wait. */
  public synchronized Duration runOnce() {
    List<TenantName> names = tenants.get();
    tickers.keySet().retainAll(names);
    Duration soonest = LONGEST_PAUSE;
    for (TenantName name : names) {
      Duration next = run(name);
      soonest = next.compareTo(soonest) < 0 ? next : soonest;
    }
    return soonest;
  }

  private Duration run(TenantName tenant) {
    try {
      Ticker ticker = tickers.computeIfAbsent(tenant, make);
      ticker.tick();
      return ticker.untilNext().orElse(LONGEST_PAUSE);
    } catch (RuntimeException e) {
      if (!SqlErrors.isTenantGone(e)) {
        log.warn("Could not decide about the slots of tenant {}", tenant, e);
      }
      return LONGEST_PAUSE;
    }
  }

  @Override
  public void close() {
    Loop running;
    synchronized (this) {
      running = loop;
    }
    if (running != null) {
      running.close();
    }
  }
}
