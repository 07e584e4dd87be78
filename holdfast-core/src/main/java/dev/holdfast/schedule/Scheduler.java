package dev.holdfast.schedule;

import dev.holdfast.loop.Loop;
import dev.holdfast.schedule.Ticker.Tick;
import dev.holdfast.tenant.SqlErrors;
import dev.holdfast.tenant.Tenant;
import dev.holdfast.tenant.TenantName;
import java.time.Duration;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.Function;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Decides about due slots. A process without a started scheduler never decides about any; any
 * number of processes may have one. Close it when done.
 */
public final class Scheduler implements AutoCloseable {

  private static final Logger log = LoggerFactory.getLogger(Scheduler.class);

  // How late a schedule is noticed that another process created.
  private static final Duration LONGEST_PAUSE = Duration.ofSeconds(2);

  // For due schedules that could not be decided: another node has locked them, or they fail.
  private static final Duration LEAST_PAUSE = Duration.ofMillis(500);

  private final ReentrantLock turn = new ReentrantLock();
  private final Supplier<List<Tenant>> tenants;
  private final Function<Tenant, Ticker> make;
  private final Map<TenantName, Ticker> tickers = new HashMap<>();
  private volatile @Nullable Loop loop;

  /**
   * A scheduler that is not started.
   *
   * @param tenants the tenants to serve, asked in every round
   */
  public Scheduler(Supplier<List<Tenant>> tenants, Function<Tenant, Ticker> make) {
    this.tenants = tenants;
    this.make = make;
  }

  /**
   * Begins to decide about slots, on a thread of its own.
   *
   * @throws IllegalStateException if it was started before
   */
  public Scheduler start() {
    turn.lock();
    try {
      if (loop != null) {
        throw new IllegalStateException("this scheduler was started already");
      }
      loop = Loop.start("holdfast-schedule", this::runOnce);
      return this;
    } finally {
      turn.unlock();
    }
  }

  /**
   * Decides in the calling thread about slots that are due now, at most a portion per schedule.
   *
   * @return how long to wait before the next call
   */
  public Duration runOnce() {
    turn.lock();
    try {
      return round();
    } finally {
      turn.unlock();
    }
  }

  private Duration round() {
    List<Tenant> all = tenants.get();
    tickers.keySet().retainAll(all.stream().map(Tenant::name).toList());
    boolean more = false;
    boolean stuck = false;
    Map<Tenant, Duration> waits = new HashMap<>(Agenda.untilNext(all));
    List<Tenant> due = waits.keySet().stream().filter(each -> isDue(each, waits)).toList();
    for (Tenant tenant : due) {
      Tick tick = tick(tenant);
      more |= tick.more() && tick.decided() > 0;
      stuck |= tick.decided() == 0;
    }
    if (more) {
      return Duration.ZERO;
    }
    waits.keySet().removeAll(due);
    waits.putAll(Agenda.untilNext(due));
    Duration next =
        waits.values().stream()
            .min(Duration::compareTo)
            .filter(wait -> wait.compareTo(LONGEST_PAUSE) < 0)
            .orElse(LONGEST_PAUSE);
    return stuck && next.compareTo(LEAST_PAUSE) < 0 ? LEAST_PAUSE : next;
  }

  private static boolean isDue(Tenant tenant, Map<Tenant, Duration> waits) {
    return waits.getOrDefault(tenant, LONGEST_PAUSE).isZero();
  }

  private Tick tick(Tenant tenant) {
    try {
      return tickers.computeIfAbsent(tenant.name(), name -> make.apply(tenant)).tick();
    } catch (RuntimeException e) {
      if (!SqlErrors.isTenantGone(e)) {
        log.warn("Could not decide about the slots of tenant {}", tenant.name(), e);
      }
      return new Tick(0, false);
    }
  }

  @Override
  public void close() {
    Loop running = loop;
    if (running != null) {
      running.close();
    }
  }
}
