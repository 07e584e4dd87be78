package dev.holdfast.server.http;

import dev.holdfast.api.Json;
import java.util.List;
import java.util.Set;
import java.util.stream.Collectors;
import tools.jackson.databind.node.ObjectNode;

/** How a route listens and answers. */
public enum Style {
  /**
   * Our own: what nobody knows is refused, a body is {@code application/json}, and errors are
   * problems of RFC 9457.
   */
  NATIVE,
  /**
   * Of a system whose clients exist already and are served as they are. They may say more than we
   * know, name any content type or none, and errors are {@code {"detail": "…"}}. That a body needs
   * no content type takes a guard away from pages of others, who can send forms to any address; so
   * these routes refuse whatever a browser marks as another site's, also where it only reads.
   */
  DIALECT,
  /**
   * For people with a browser: a body is a form that proves which page it is from, who asks is told
   * by a session or a token, and errors are pages.
   */
  PAGE;

  Answer answer(Refusal refusal) {
    return switch (this) {
      case NATIVE, PAGE -> Problems.of(refusal); // a page, where there is a browser to show it
      case DIALECT -> {
        ObjectNode json = Json.object().put("detail", refusal.detail());
        refusal.more().forEach(json::put);
        yield Answer.json(refusal.status(), "application/json", json);
      }
    };
  }

  /** For what no route takes: the style of those whose paths begin alike. */
  static final class Neighbours {

    private static final String OWN = "/api/v1";
    private static final String PAGES = "/ui";

    private final Set<String> dialects;

    Neighbours(List<Route> routes) {
      this.dialects =
          routes.stream()
              .filter(route -> route.style() == DIALECT)
              .map(route -> first(route.path()))
              .collect(Collectors.toUnmodifiableSet());
    }

    Style of(String path) {
      if (first(path).equals(PAGES)) {
        return PAGE;
      }
      return !path.startsWith(OWN) && dialects.contains(first(path)) ? DIALECT : NATIVE;
    }

    private static String first(String path) {
      int end = path.indexOf('/', 1);
      return end < 0 ? path : path.substring(0, end);
    }
  }
}
