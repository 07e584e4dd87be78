package dev.holdfast.server;

import dev.holdfast.api.Json;
import dev.holdfast.server.auth.Role;
import dev.holdfast.server.http.Answer;
import dev.holdfast.server.http.OpenApi;
import dev.holdfast.server.http.Refusal;
import dev.holdfast.server.http.Request;
import dev.holdfast.server.http.Route;
import dev.holdfast.server.http.Route.Method;
import java.sql.Connection;
import java.sql.SQLException;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import javax.sql.DataSource;
import tools.jackson.databind.node.ObjectNode;

/** What is not the API: whether the server is well, its figures, its document. */
final class Pages {

  private static final int PATIENCE_SECONDS = 2;

  private Pages() {}

  static List<Route> routes(DataSource dataSource, Figures figures) {
    return List.of(
        Route.open("/healthz", "The process runs", request -> Answer.ok(ok())),
        Route.open("/readyz", "The database answers", request -> ready(dataSource)),
        Route.of(
                Method.GET,
                "/metrics",
                Role.VIEWER,
                "Figures, for Prometheus",
                request -> Answer.text("text/plain; version=0.0.4", figures.text()))
            .ofAllTenants(),
        Route.open("/", "To the dashboard", Pages::home));
  }

  static List<Route> documents(List<Route> routes) {
    List<Route> all = List.copyOf(routes);
    return List.of(
        Route.open("/openapi.json", "This document", request -> Answer.ok(OpenApi.of(all))));
  }

  private static ObjectNode ok() {
    return Json.object().put("status", "ok");
  }

  private static Answer ready(DataSource dataSource) {
    // A pool may let one wait for longer than whoever asks would.
    boolean answers =
        CompletableFuture.supplyAsync(() -> answers(dataSource), Thread::startVirtualThread)
            .completeOnTimeout(false, PATIENCE_SECONDS, TimeUnit.SECONDS)
            .join();
    if (answers) {
      return Answer.ok(ok());
    }
    throw Refusal.of(503, "DATABASE", "The database cannot be reached");
  }

  private static boolean answers(DataSource dataSource) {
    try (Connection connection = dataSource.getConnection()) {
      return connection.isValid(PATIENCE_SECONDS);
    } catch (SQLException e) {
      return false;
    }
  }

  private static Answer home(Request request) {
    request.http().res().setHeader("Location", "/ui");
    return new Answer(302, "text/plain", "/ui");
  }
}
