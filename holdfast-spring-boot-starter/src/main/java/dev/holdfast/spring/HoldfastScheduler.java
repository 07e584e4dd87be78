package dev.holdfast.spring;

import dev.holdfast.Holdfast;
import dev.holdfast.error.HoldfastException;
import dev.holdfast.schedule.Schedule;
import dev.holdfast.schedule.Scheduler;
import dev.holdfast.tenant.TenantName;
import java.util.List;
import org.jspecify.annotations.Nullable;
import org.springframework.context.SmartLifecycle;

/** Declares the application's schedules, and decides about slots while the application runs. */
final class HoldfastScheduler implements SmartLifecycle {

  private final Holdfast holdfast;
  private final TenantName tenant;
  private final String application;
  private final List<Schedule> schedules;
  private volatile @Nullable Scheduler running;

  /**
   * Of an application.
   *
   * @param application its name; empty where it has none
   */
  HoldfastScheduler(
      Holdfast holdfast, TenantName tenant, String application, List<Schedule> schedules) {
    // A name that all nameless ones share would let each disable the others' schedules.
    if (application.isBlank() && !schedules.isEmpty()) {
      throw HoldfastException.badConfig(
          "spring.application.name",
          application,
          "a name, which tells this application's schedules from others'");
    }
    this.holdfast = holdfast;
    this.tenant = tenant;
    this.application = application;
    this.schedules = schedules;
  }

  @Override
  public void start() {
    // Without any it says nothing: another process of this name may have them.
    if (!schedules.isEmpty()) {
      holdfast.schedules(tenant).declare(application, schedules);
    }
    running = holdfast.scheduler(tenant).start();
  }

  @Override
  public void stop() {
    Scheduler scheduler = running;
    if (scheduler != null) {
      scheduler.close();
      running = null;
    }
  }

  @Override
  public boolean isRunning() {
    return running != null;
  }
}
