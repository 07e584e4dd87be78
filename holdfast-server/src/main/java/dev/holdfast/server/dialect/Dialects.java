package dev.holdfast.server.dialect;

import dev.holdfast.server.api.ServerParts;
import dev.holdfast.server.dialect.agents.AgentDialect;
import dev.holdfast.server.dialect.agents.AgentTenants;
import dev.holdfast.server.dialect.pull.PullRoutes;
import dev.holdfast.server.dialect.pull.Signatures;
import dev.holdfast.server.dialect.targets.TargetRoutes;
import dev.holdfast.server.http.Route;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Stream;

/**
 * The dialects' lines of the table of routes, all of them. Each stands at the root and, because its
 * clients send no header that would say whose jobs they mean, once more under {@code /t/{tenant}}.
 */
public final class Dialects {

  private Dialects() {}

  public static List<Route> of(ServerParts parts, AgentTenants agents) {
    List<Route> routes = new ArrayList<>();
    routes.addAll(new TargetRoutes().routes());
    routes.addAll(new PullRoutes(parts.workers(), new Signatures(parts)).routes());
    routes.addAll(AgentDialect.routes(agents, parts.workers(), parts.config().limits().streams()));
    return routes.stream()
        .map(Route::inDialect)
        .flatMap(route -> Stream.of(route, route.underTenant()))
        .toList();
  }
}
