package dev.holdfast.server.dialect.agents;

import dev.holdfast.error.HoldfastException;
import dev.holdfast.fleet.RemoteWorkers;
import dev.holdfast.server.AgentSettings;
import dev.holdfast.server.http.Request;
import dev.holdfast.server.http.Route;
import java.util.ArrayList;
import java.util.List;
import java.util.UUID;

/** All lines of this dialect, and what its routes have in common. */
public final class AgentDialect {

  private final AgentTenants openTenants;

  private AgentDialect(AgentTenants openTenants) {
    this.openTenants = openTenants;
  }

  /**
   * The dialect's lines of the table.
   *
   * @param streams how many of them one may have at once
   */
  public static List<Route> routes(AgentTenants openTenants, RemoteWorkers workers, int streams) {
    AgentDialect dialect = new AgentDialect(openTenants);
    List<Route> routes = new ArrayList<>();
    routes.addAll(new SubmissionRoutes(dialect).routes());
    routes.addAll(new InspectionRoutes(dialect).routes());
    routes.addAll(new LogRoutes(dialect, streams).routes());
    routes.addAll(new WorkRoutes(dialect, workers).routes());
    routes.addAll(new OpsRoutes(dialect).routes());
    return routes;
  }

  AgentServices services(Request request) {
    return openTenants.of(request.services().tenant());
  }

  AgentSettings settings() {
    return openTenants.settings();
  }

  /** The job that a path names. */
  AgentJob job(Request request) {
    UUID id = id(request);
    return services(request).jobs().find(id).orElseThrow(() -> StatusReports.notFound(id));
  }

  static UUID id(Request request) {
    String text = request.http().pathParam("job_id");
    return Names.id(text).orElseThrow(() -> StatusReports.notFound("of that id"));
  }

  /** A name that an agent may have. */
  String host(String field, String name) {
    Names.host(field, name);
    if (!settings().knows(name)) {
      throw HoldfastException.invalid(field, name, "one of " + settings().hosts());
    }
    return name;
  }
}
