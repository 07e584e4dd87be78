package dev.holdfast.server.ui;

import static dev.holdfast.server.http.Route.Method.GET;

import dev.holdfast.server.auth.Role;
import dev.holdfast.server.http.Answer;
import dev.holdfast.server.http.Request;
import dev.holdfast.server.http.Route;
import dev.holdfast.server.tenancy.Setting;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/** Settings that are in force at once. */
final class SettingsPage {

  /** What the template shows. */
  record View(Frame frame, Map<Setting, Optional<Long>> settings) {}

  private final Frames frames;

  SettingsPage(Frames frames) {
    this.frames = frames;
  }

  List<Route> routes() {
    return List.of(Route.of(GET, "/ui/settings", Role.VIEWER, "Settings", this::show).asPage());
  }

  private Answer show(Request request) {
    return Html.page(
        "settings",
        new View(
            frames.frame(request, "Settings", "settings"), request.services().settings().all()));
  }
}
