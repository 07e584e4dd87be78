package dev.holdfast.server;

import static org.assertj.core.api.Assertions.assertThat;

import dev.holdfast.server.http.Route;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Locale;
import java.util.Optional;
import java.util.Set;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.junit.jupiter.api.Test;
import tools.jackson.databind.JsonNode;

/** The document of the API is whole, and about what is served. */
class OpenApiTest {

  private static final Set<String> METHODS = Set.of("get", "post", "put", "patch", "delete");

  private final JsonNode document =
      new Caller(TestServer.shared().port(), Optional.empty(), Optional.empty())
          .get("/openapi.json")
          .json();

  @Test
  void it_is_an_openapi_document() {
    assertThat(document.path("openapi").asString()).startsWith("3.1.");
    assertThat(document.path("info").path("title").asString()).isNotEmpty();
    assertThat(document.path("info").path("version").asString()).isNotEmpty();
    Set<String> ids = new HashSet<>();
    List<String> wrong = new ArrayList<>();
    for (String path : document.path("paths").propertyNames()) {
      JsonNode item = document.path("paths").path(path);
      for (String method : item.propertyNames()) {
        JsonNode operation = item.path(method);
        if (!METHODS.contains(method)
            || !path.startsWith("/")
            || !ids.add(operation.path("operationId").asString(""))
            || operation.path("responses").isEmpty()
            || !parametersOf(operation).containsAll(named(path))) {
          wrong.add(method + " " + path);
        }
      }
    }
    assertThat(wrong).isEmpty();
    assertThat(ids).hasSizeGreaterThan(50);
  }

  @Test
  void every_reference_leads_somewhere() {
    Matcher found = Pattern.compile("\"\\$ref\":\"#([^\"]+)\"").matcher(document.toString());
    int references = 0;
    while (found.find()) {
      references++;
      assertThat(document.at(found.group(1)).isMissingNode()).as(found.group(1)).isFalse();
    }
    assertThat(references).isPositive();
  }

  @Test
  void it_names_every_route_for_programs_and_its_role() {
    for (Route route : TestServer.shared().server().routes()) {
      if (route.path().equals("/openapi.json") || route.isPage()) {
        continue;
      }
      JsonNode operation =
          document
              .path("paths")
              .path(route.path())
              .path(route.method().name().toLowerCase(Locale.ROOT));

      assertThat(operation.isMissingNode()).as(route.toString()).isFalse();
      assertThat(operation.path("x-role").asString(""))
          .as(route.toString())
          .isEqualTo(route.role().map(role -> role.stored()).orElse(""));
    }
  }

  private static Set<String> parametersOf(JsonNode operation) {
    Set<String> names = new HashSet<>();
    operation
        .path("parameters")
        .forEach(parameter -> {
          if (parameter.path("in").asString().equals("path")
              && parameter.path("required").asBoolean()) {
            names.add(parameter.path("name").asString());
          }
        });
    return names;
  }

  private static List<String> named(String path) {
    return Pattern.compile("\\{(\\w+)}").matcher(path).results().map(m -> m.group(1)).toList();
  }
}
