package dev.holdfast.server.http;

import dev.holdfast.api.Json;
import java.util.List;
import java.util.Set;
import java.util.stream.Collectors;
import tools.jackson.databind.node.ObjectNode;

/** The conventions of a route's requests and answers. */
public enum Style {
  /**
   * The server's own API: unknown parameters are refused, a body is {@code application/json}, and
   * errors are problems of RFC 9457.
   */
  NATIVE,
  /**
   * The API of another system, whose existing clients are served as they are. They may send more
   * than we know, with any content type or none, and errors are {@code {"detail": "…"}}. Since a
   * body needs no content type, pages of other sites could send forms here; so these routes refuse
   * every request that a browser marks as another site's, even if it only reads.
   */
  DIALECT,
  /**
   * For people with a browser: a body is a form that proves which page it is from, a session or a
   * token identifies the caller, and errors are pages.
   */
  PAGE;

  Answer answer(Refusal refusal) {
    return switch (this) {
      case NATIVE, PAGE -> Problems.of(refusal); // for PAGE, if Web shows no error page
      case DIALECT -> {
        ObjectNode json = Json.object().put("detail", refusal.detail());
        refusal.more().forEach(json::put);
        yield Answer.json(refusal.status(), "application/json", json);
      }
    };
  }

  /** Finds the style for requests that match no route: that of routes whose paths begin alike. */
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
