package dev.holdfast.server;

import static org.assertj.core.api.Assertions.assertThat;

import dev.holdfast.server.Caller.Reply;
import dev.holdfast.server.auth.Role;
import dev.holdfast.server.http.Route;
import dev.holdfast.testkit.Covers;
import dev.holdfast.testkit.TestTenant;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeMap;
import java.util.regex.Pattern;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.RegisterExtension;

/** No token of one tenant gets at another's things, by whatever route, name or id. */
@Timeout(300)
class TenantWallTest {

  private static final List<Role> ROLES =
      List.of(Role.ADMIN, Role.OPERATOR, Role.WORKER, Role.SUBMITTER, Role.VIEWER);

  /** What stands for one job. */
  private static final Pattern OF_A_JOB = Pattern.compile(".*(\\{job_id}|/jobs/\\{id}).*");

  @RegisterExtension final TestTenant tenant = new TestTenant();
  @RegisterExtension final TestTenant other = new TestTenant();

  private final TestServer server = TestServer.shared();
  private String word;
  private Canaries canaries;

  @BeforeEach
  void plant() {
    word = "canary-" + other.name().value().replace('_', '-');
    canaries = Canaries.in(server, other.name(), word);
  }

  @Covers("B2")
  @Test
  void no_token_of_one_tenant_gets_into_another() {
    Map<String, Object> before = picture();
    for (Role role : ROLES) {
      Optional<String> token = Optional.of(server.token(role, Optional.of(tenant.name())));
      Caller intruder = new Caller(server.port(), token, Optional.of(other.name()));
      Caller athome = new Caller(server.port(), token, Optional.empty());
      Caller named = new Caller(server.port(), token, Optional.of(tenant.name()));
      for (Route route : routes(false)) {
        for (String path : canaries.paths(route, other.name())) {
          Reply reply = ask(intruder, route, path); // by header and, where it has one, by its path
          assertThat(reply.status()).as(role + " " + route).isIn(403, 404);
          assertThat(reply.text()).as(role + " " + route).doesNotContain(word);
        }
        Caller home = route.path().contains("{tenant}") ? named : athome;
        for (String path : canaries.paths(route, tenant.name())) {
          Reply reply = ask(home, route, path);
          assertThat(reply.text()).as(role + " " + route.method() + path).doesNotContain(word);
          if (OF_A_JOB.matcher(route.path()).matches()) {
            assertThat(reply.status()).as(role + " " + route.method() + path).isBetween(400, 499);
          }
        }
      }
    }
    assertThat(picture()).as("what the other one has").isEqualTo(before);
  }

  @Test
  void no_token_of_one_tenant_hears_what_another_ones_streams_say() throws Exception {
    for (Role role : ROLES) {
      Optional<String> token = Optional.of(server.token(role, Optional.of(tenant.name())));
      for (Route route : routes(true)) {
        try (RawHttp intruder =
            RawHttp.to(new Caller(server.port(), token, Optional.of(other.name())))) {
          intruder.get(route.path());
          assertThat(intruder.answer()).as(role + " " + route).containsPattern("^HTTP/1.1 40[34]");
        }
        try (RawHttp athome = RawHttp.to(new Caller(server.port(), token, Optional.empty()))) {
          athome.get(route.path());
          assertThat(athome.answer()).as(role + " " + route).doesNotContain(word);
        }
      }
    }
  }

  /**
   * Whoever looks with the right token is shown the word: it can be found where it is looked for.
   */
  @Test
  void the_canaries_own_tenant_is_shown_them_by_many_a_route() {
    Caller admin = server.as(Role.ADMIN, other.name());
    List<String> showing =
        routes(false).stream()
            .filter(route -> route.method() == Route.Method.GET)
            .filter(route ->
                canaries.paths(route, other.name()).stream()
                    .filter(path -> !path.contains("follow")) // of a job that has not ended
                    .filter(path -> !path.endsWith("/log"))
                    .anyMatch(path -> ask(admin, route, path).text().contains(word)))
            .map(Route::toString)
            .toList();

    assertThat(showing)
        .hasSizeGreaterThan(40)
        .contains(
            "GET /api/v1/jobs/{id}",
            "GET /api/v1/jobs/{id}/logs",
            "GET /api/v1/queues",
            "GET /api/v1/resources",
            "GET /api/v1/nodes/{id}",
            "GET /api/v1/schedules/{name}",
            "GET /api/v1/webhooks",
            "GET /api/v1/tokens",
            "GET /api/v1/subjects/{type}/{id}",
            "GET /targets/{target_id}/jobs/{job_id}",
            "GET /job-info/{job_id}",
            "GET /ui/jobs/{id}");
  }

  private List<Route> routes(boolean streams) {
    return server.server().routes().stream()
        .filter(route -> route.role().isPresent() && route.scope() == Route.Scope.TENANT)
        .filter(route -> streams == AuthorisationTest.STREAMS.contains(route.path()))
        .toList();
  }

  private static Reply ask(Caller caller, Route route, String path) {
    if (route.isPage() && route.method() == Route.Method.POST) {
      return caller.form(path, "");
    }
    boolean takesBody = Set.of("POST", "PUT", "PATCH").contains(route.method().name());
    return caller.send(
        route.method().name(), path, takesBody ? Optional.of("{}") : Optional.empty());
  }

  /** Every row of the other tenant, by its table. */
  private Map<String, Object> picture() {
    Map<String, Object> picture = new TreeMap<>();
    other
        .query(
            """
            SELECT c.relname FROM pg_class c JOIN pg_namespace s ON s.oid = c.relnamespace
             WHERE '{schema}' = s.nspname AND c.relkind IN ('r', 'p')
            """)
        .forEach(row -> {
          String table = String.valueOf(row.get("relname"));
          // The courier of any server here makes its own lane when it first comes by.
          String couriers = table.equals("lane") ? " WHERE queue <> 'holdfast.webhooks'" : "";
          picture.put(
              table,
              other.query(
                  "SELECT t::text AS row FROM {schema}."
                      + table
                      + " AS t"
                      + couriers
                      + " ORDER BY t::text"));
        });
    assertThat(picture).hasSizeGreaterThan(15);
    String own = "'" + other.name() + "'";
    picture.put(
        "holdfast.token",
        other.query(
            "SELECT t::text AS row FROM holdfast.token AS t WHERE tenant = "
                + own
                + " ORDER BY id"));
    picture.put(
        "holdfast.worker", // goes on being seen, but nobody tells it to go
        other.query(
            "SELECT name FROM holdfast.worker WHERE drain_requested_at IS NOT NULL AND tenant = "
                + own));
    return picture;
  }
}
