package dev.holdfast.server.ui;

import static dev.holdfast.server.http.Route.Method.GET;

import dev.holdfast.audit.AuditRecord;
import dev.holdfast.server.auth.Role;
import dev.holdfast.server.http.Answer;
import dev.holdfast.server.http.Request;
import dev.holdfast.server.http.Route;
import java.util.List;

/** The page with the audit, newest first. */
final class AuditPage {

  private static final int ROWS = 100;

  /** What the template shows. */
  record View(Frame frame, List<AuditRecord> acts, String olderHref) {}

  private final Frames frames;

  AuditPage(Frames frames) {
    this.frames = frames;
  }

  List<Route> routes() {
    return List.of(
        Route.of(GET, "/ui/audit", Role.OPERATOR, "What people did", this::show)
            .queries("after")
            .asPage());
  }

  private Answer show(Request request) {
    List<AuditRecord> acts =
        request.services().audit().before(request.number("after").orElse(Long.MAX_VALUE), ROWS);
    return Html.page(
        "audit",
        new View(
            frames.frame(request, "Audit", "audit"),
            acts,
            acts.size() == ROWS ? "/ui/audit?after=" + acts.getLast().id() : ""));
  }
}
