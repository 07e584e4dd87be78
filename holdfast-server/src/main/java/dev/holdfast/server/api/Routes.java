package dev.holdfast.server.api;

import dev.holdfast.server.http.Route;
import java.util.ArrayList;
import java.util.List;

/** The native API's lines of the table of routes, all of them. */
public final class Routes {

  static final String BASE = "/api/v1";

  private Routes() {}

  public static List<Route> of(ServerParts parts) {
    List<Route> routes = new ArrayList<>();
    routes.addAll(new JobRoutes().routes());
    routes.addAll(new ActRoutes().routes());
    routes.addAll(new LeaseRoutes(parts.polls(), parts.workers(), parts.config()).routes());
    routes.addAll(new ReportRoutes().routes());
    routes.addAll(new QueueRoutes().routes());
    routes.addAll(new ResourceRoutes().routes());
    routes.addAll(new ScheduleRoutes().routes());
    routes.addAll(new FleetRoutes(parts.holdfast(), parts.workers()).routes());
    routes.addAll(new KindRoutes().routes());
    routes.addAll(new SettingRoutes().routes());
    routes.addAll(new RecordRoutes().routes());
    routes.addAll(new TenantRoutes(parts.holdfast(), parts.openTenants(), parts.tokens()).routes());
    routes.addAll(new DoctorRoutes(parts.holdfast(), parts.config()).routes());
    routes.addAll(new StreamRoutes(parts.hints(), parts.config()).routes());
    return routes;
  }
}
