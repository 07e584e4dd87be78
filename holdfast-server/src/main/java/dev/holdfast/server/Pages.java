package dev.holdfast.server;

import dev.holdfast.Holdfast;
import dev.holdfast.api.Json;
import dev.holdfast.server.auth.Role;
import dev.holdfast.server.http.Answer;
import dev.holdfast.server.http.OpenApi;
import dev.holdfast.server.http.Refusal;
import dev.holdfast.server.http.Request;
import dev.holdfast.server.http.Route;
import dev.holdfast.server.http.Route.Method;
import java.util.List;
import java.util.Optional;
import java.util.function.BooleanSupplier;
import tools.jackson.databind.node.ObjectNode;

/** Routes that are not part of the API: health, metrics, and the OpenAPI document. */
final class Pages {

  private Pages() {}

  static List<Route> routes(Holdfast holdfast, Figures figures, BooleanSupplier draining) {
    Readiness readiness = new Readiness(holdfast, draining);
    return List.of(
        Route.open("/healthz", "The process runs", request -> Answer.ok(ok())),
        Route.open(
            "/readyz",
            "The database takes writes, its tables fit, and the node is not about to end",
            request -> ready(readiness)),
        Route.of(
                Method.GET,
                "/metrics",
                Role.VIEWER,
                "Figures, for Prometheus",
                request ->
                    Answer.text("text/plain; version=0.0.4", figures(holdfast, figures, request)))
            .ofAllTenants(),
        Route.open("/", "To the dashboard", Pages::home));
  }

  static List<Route> documents(List<Route> routes) {
    List<Route> all = List.copyOf(routes);
    return List.of(
        Route.open("/openapi.json", "This document", request -> Answer.ok(OpenApi.of(all))));
  }

  // A tenant's token must not reveal the names that other tenants use.
  private static String figures(Holdfast holdfast, Figures figures, Request request) {
    boolean seesAll =
        request.principal().tenant().isEmpty() || holdfast.tenants().list().size() < 2;
    return seesAll ? figures.text() : figures.textWithoutNames();
  }

  private static ObjectNode ok() {
    return Json.object().put("status", "ok");
  }

  private static Answer ready(Readiness readiness) {
    Optional<Refusal> obstacle = readiness.obstacle();
    if (obstacle.isPresent()) {
      throw new Refusal.Refused(obstacle.get());
    }
    return Answer.ok(ok());
  }

  private static Answer home(Request request) {
    request.http().res().setHeader("Location", "/ui");
    return new Answer(302, "text/plain", "/ui");
  }
}
