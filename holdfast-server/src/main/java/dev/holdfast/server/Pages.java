package dev.holdfast.server;

import dev.holdfast.Holdfast;
import dev.holdfast.api.Json;
import dev.holdfast.doctor.Finding;
import dev.holdfast.error.ErrorCode;
import dev.holdfast.error.HoldfastException;
import dev.holdfast.server.auth.Role;
import dev.holdfast.server.http.Answer;
import dev.holdfast.server.http.OpenApi;
import dev.holdfast.server.http.Refusal;
import dev.holdfast.server.http.Request;
import dev.holdfast.server.http.Route;
import dev.holdfast.server.http.Route.Method;
import dev.holdfast.tenant.TenantName;
import java.time.InstantSource;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import tools.jackson.databind.node.ObjectNode;

/** What is not the API: whether the server is well, its figures, its document. */
final class Pages {

  private static final int PATIENCE_SECONDS = 2;
  private static final Refusal UNREACHABLE =
      new Refusal(503, "DATABASE", "The database cannot be reached");

  private Pages() {}

  static List<Route> routes(Holdfast holdfast, Figures figures) {
    return List.of(
        Route.open("/healthz", "The process runs", request -> Answer.ok(ok())),
        Route.open(
            "/readyz", "The database takes writes, and its tables fit", request -> ready(holdfast)),
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

  // Somebody of one tenant is not to learn what others call their things.
  private static String figures(Holdfast holdfast, Figures figures, Request request) {
    boolean seesAll =
        request.principal().tenant().isEmpty() || holdfast.tenants().list().size() < 2;
    return seesAll ? figures.text() : figures.textWithoutNames();
  }

  private static ObjectNode ok() {
    return Json.object().put("status", "ok");
  }

  private static Answer ready(Holdfast holdfast) {
    // A pool may let one wait for longer than whoever asks would.
    Optional<Refusal> obstacle =
        CompletableFuture.supplyAsync(() -> obstacle(holdfast), Thread::startVirtualThread)
            .completeOnTimeout(Optional.of(UNREACHABLE), PATIENCE_SECONDS, TimeUnit.SECONDS)
            .join();
    if (obstacle.isPresent()) {
      throw new Refusal.Refused(obstacle.get());
    }
    return Answer.ok(ok());
  }

  /** What keeps this node from serving: no database, one that takes no writes, others' tables. */
  private static Optional<Refusal> obstacle(Holdfast holdfast) {
    try {
      Finding writable = holdfast.doctor(InstantSource.system()).writable();
      if (writable.level() != Finding.Level.OK) {
        return Optional.of(
            new Refusal(503, "DATABASE", "The database takes no writes: " + writable.detail()));
      }
      holdfast.tenants().requireControl();
      holdfast.tenants().open(TenantName.DEFAULT);
      return Optional.empty();
    } catch (HoldfastException e) {
      return Optional.of(
          e.code() == ErrorCode.SCHEMA_MISMATCH
              ? new Refusal(503, e.code().name(), String.valueOf(e.getMessage()))
              : UNREACHABLE);
    }
  }

  private static Answer home(Request request) {
    request.http().res().setHeader("Location", "/ui");
    return new Answer(302, "text/plain", "/ui");
  }
}
