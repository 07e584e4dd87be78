package dev.holdfast.server.ui;

import static dev.holdfast.server.http.Route.Method.GET;

import dev.holdfast.server.auth.Role;
import dev.holdfast.server.http.Answer;
import dev.holdfast.server.http.Request;
import dev.holdfast.server.http.Route;
import java.util.List;

/** The page with the tenants: to look at them, create them and drop them. */
final class TenantsPage {

  /** What the template shows. */
  record View(Frame frame) {}

  private final Frames frames;

  TenantsPage(Frames frames) {
    this.frames = frames;
  }

  List<Route> routes() {
    return List.of(Route.of(GET, "/ui/tenants", Role.SYSTEM, "Tenants", this::show).asPage());
  }

  private Answer show(Request request) {
    return Html.page("tenants", new View(frames.frame(request, "Tenants", "tenants")));
  }
}
