package dev.holdfast.server.api;

import dev.holdfast.job.Job;
import dev.holdfast.server.http.Route;
import dev.holdfast.tenant.Tenant;
import java.util.ArrayList;
import java.util.List;
import java.util.function.BiConsumer;

/** All routes of the native API. */
public final class Routes {

  static final String BASE = "/api/v1";

  private Routes() {}

  /**
   * All of them.
   *
   * @param acted is told of every job that somebody acted on, before they have their answer
   * @param files of tenants, which are made and dropped here
   */
  public static List<Route> of(
      ServerParts parts, BiConsumer<Tenant, Job> acted, TenantFiles files) {
    List<Route> routes = new ArrayList<>();
    routes.addAll(new JobRoutes().routes());
    routes.addAll(new ActRoutes(acted).routes());
    routes.addAll(new LeaseRoutes(parts.polls(), parts.workers(), parts.config()).routes());
    routes.addAll(new ReportRoutes().routes());
    routes.addAll(new QueueRoutes().routes());
    routes.addAll(new ResourceRoutes().routes());
    routes.addAll(new ScheduleRoutes().routes());
    routes.addAll(new FleetRoutes(parts.holdfast(), parts.workers()).routes());
    routes.addAll(new KindRoutes().routes());
    routes.addAll(new SettingRoutes().routes());
    routes.addAll(new RecordRoutes().routes());
    routes.addAll(new TenantRoutes(parts, files).routes());
    routes.addAll(new DoctorRoutes(parts.holdfast(), parts.config()).routes());
    routes.addAll(new StreamRoutes(parts.hints(), parts.config()).routes());
    return routes;
  }
}
