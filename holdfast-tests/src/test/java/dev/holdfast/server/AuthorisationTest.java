package dev.holdfast.server;

import static org.assertj.core.api.Assertions.assertThat;

import dev.holdfast.server.Caller.Reply;
import dev.holdfast.server.auth.Role;
import dev.holdfast.server.auth.Tokens;
import dev.holdfast.server.http.Route;
import dev.holdfast.tenant.TenantName;
import dev.holdfast.testkit.TestTenant;
import java.io.IOException;
import java.net.URI;
import java.net.http.HttpRequest;
import java.net.http.HttpRequest.BodyPublishers;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.api.io.TempDir;

/** Who may ask what: every route, every role, and nobody. Other tenants are TenantWallTest's. */
class AuthorisationTest {

  @RegisterExtension final TestTenant tenant = new TestTenant();
  @RegisterExtension final TestTenant other = new TestTenant();

  private static final Pattern OPEN =
      Pattern.compile("/|/healthz|/readyz|/openapi\\.json|/ui|/ui/login|/ui/assets/.*");
  static final Set<String> STREAMS = Set.of("/api/v1/events", "/ui/events");

  @Test
  void every_route_lets_in_the_roles_of_the_table_and_nobody_else() {
    List<String> wrong = new ArrayList<>();
    for (Route route : guarded()) {
      for (Role role : Role.values()) {
        int status = ask(TestServer.shared().as(role, tenant.name()), route).status();
        boolean letIn = status != 401 && status != 403;
        boolean mayIn = role.mayDo(route.role().orElseThrow());
        if (letIn != mayIn || status >= 500) {
          wrong.add(route + " as " + role + " answers " + status);
        }
      }
    }

    assertThat(wrong).isEmpty();
    assertThat(guarded().size()).isGreaterThan(100);
    assertThat(guarded().stream().filter(Route::isPage).count()).isGreaterThan(45);
  }

  @Test
  void every_guarded_route_refuses_those_who_do_not_say_who_they_are() {
    for (Route route : guarded()) {
      Caller nobody = new Caller(TestServer.shared().port(), Optional.empty(), Optional.empty());
      Caller liar =
          new Caller(nobody.port(), Optional.of("hf_" + "x".repeat(43)), Optional.empty());

      assertThat(ask(nobody, route).status()).as(route.toString()).isEqualTo(401);
      assertThat(ask(liar, route).status()).as(route.toString()).isEqualTo(401);
    }
  }

  @Test
  void every_guarded_route_refuses_tokens_that_have_expired_or_were_revoked() {
    List<String> wrong = new ArrayList<>();
    for (Role role : Role.values()) {
      for (String fate : List.of("expires_at", "revoked_at")) {
        Caller late = TestServer.shared().as(role, tenant.name());
        end(late, fate);
        for (Route route : guardedAndStreams()) {
          Reply reply = ask(late, route);
          if (reply.status() != 401) {
            wrong.add(route + " as " + role + ", " + fate + ", answers " + reply.status());
          }
        }
      }
    }
    assertThat(wrong).isEmpty();
  }

  private void end(Caller holder, String column) {
    int ended =
        tenant
            .holdfast()
            .tenants()
            .control()
            .jdbi()
            .withHandle(handle ->
                handle
                    .createUpdate(
                        """
                        UPDATE holdfast.token SET %s = now() - interval '1 second'
                         WHERE hash = :hash
                        """
                            .formatted(column))
                    .bind("hash", Tokens.hash(holder.token().orElseThrow()))
                    .execute());
    assertThat(ended).isOne();
  }

  // They answer for as long as one listens, so that only how they begin is looked at.
  @Test
  void streams_let_in_the_roles_of_the_table_and_nobody_else() throws Exception {
    for (Route route : guardedAndStreams()) {
      for (Role role : Role.values()) {
        if (STREAMS.contains(route.path())) {
          try (RawHttp line = RawHttp.to(TestServer.shared().as(role, tenant.name()))) {
            line.get(route.path());
            assertThat(line.answer().startsWith("HTTP/1.1 200"))
                .as(route + " as " + role)
                .isEqualTo(role.mayDo(route.role().orElseThrow()));
          }
        }
      }
    }
  }

  /**
   * Who may ask what is written down for people in docs/authorisation.md. A route that is not
   * there, or there with another role, was opened or closed without anybody's having said so.
   */
  @Test
  void the_table_for_people_says_the_same() throws IOException {
    List<String> routes =
        TestServer.shared().server().routes().stream()
            .map(route ->
                "| `%s %s` | %s | %s |"
                    .formatted(
                        route.method(),
                        route.path(),
                        route.role().map(Role::stored).orElse("nobody need say who they are"),
                        route.role().isEmpty()
                            ? "none"
                            : route.scope() == Route.Scope.TENANT ? "one tenant" : "all tenants"))
            .sorted()
            .toList();
    List<String> written =
        Files.readAllLines(Path.of("..", "docs", "authorisation.md")).stream()
            .filter(line -> line.startsWith("| `"))
            .sorted()
            .toList();

    assertThat(written).containsExactlyInAnyOrderElementsOf(routes);
    List<String> open =
        routes.stream().filter(line -> line.contains("nobody need")).map(this::path).toList();
    assertThat(open).as("what strangers may ask").allMatch(path -> OPEN.matcher(path).matches());
  }

  private String path(String line) {
    return line.substring(line.indexOf(' ', 3) + 1, line.lastIndexOf('`'));
  }

  @Test
  void dialects_stand_at_the_root_and_under_every_tenants_name_with_the_same_role() {
    List<Route> all = TestServer.shared().server().routes();
    List<Route> named = all.stream().filter(route -> route.path().startsWith("/t/")).toList();
    assertThat(named).hasSizeGreaterThan(30);
    for (Route route : named) {
      Route plain =
          all.stream()
              .filter(other -> other.method() == route.method())
              .filter(other -> ("/t/{tenant}" + other.path()).equals(route.path()))
              .findFirst()
              .orElseThrow(() -> new AssertionError(route + " has no twin"));
      assertThat(plain.role()).as(route.toString()).isEqualTo(route.role());
      assertThat(plain.scope()).as(route.toString()).isEqualTo(route.scope());
    }
  }

  @Test
  void a_token_that_was_revoked_or_has_expired_is_no_token() {
    Caller admin = TestServer.shared().as(Role.ADMIN, tenant.name());
    var made = admin.post("/api/v1/tokens", "{\"name\": \"ci\", \"role\": \"viewer\"}").json();
    Caller viewer =
        new Caller(admin.port(), Optional.of(made.path("token").asString()), Optional.empty());
    int before = viewer.get("/api/v1/jobs").status();

    admin.send("DELETE", "/api/v1/tokens/" + made.path("id").asString(), Optional.empty());
    var old =
        admin
            .post(
                "/api/v1/tokens",
                "{\"name\": \"old\", \"role\": \"viewer\", \"expires_at\":"
                    + " \"2020-01-01T00:00:00Z\"}")
            .json();

    assertThat(before).isEqualTo(200);
    assertThat(viewer.get("/api/v1/jobs").status()).isEqualTo(401);
    assertThat(
            new Caller(admin.port(), Optional.of(old.path("token").asString()), Optional.empty())
                .get("/api/v1/jobs")
                .status())
        .isEqualTo(401);
    assertThat(admin.get("/api/v1/tokens").text()).doesNotContain(made.path("token").asString());
    assertThat(admin.get("/api/v1/audit").text()).doesNotContain(made.path("token").asString());
    int stored =
        tenant
            .holdfast()
            .tenants()
            .control()
            .jdbi()
            .withHandle(handle ->
                handle
                    .createQuery("SELECT count(*) FROM holdfast.token t WHERE t::text LIKE :token")
                    .bind("token", "%" + made.path("token").asString() + "%")
                    .mapTo(Integer.class)
                    .one());
    assertThat(stored).isZero();
  }

  @Test
  void an_admin_makes_tokens_of_its_own_tenant_alone() {
    Caller admin = TestServer.shared().as(Role.ADMIN, tenant.name());

    assertThat(admin.post("/api/v1/tokens", "{\"name\": \"x\", \"role\": \"system\"}").status())
        .isEqualTo(403);
    assertThat(
            admin
                .post(
                    "/api/v1/tokens",
                    "{\"name\": \"x\", \"role\": \"viewer\", \"tenant\": \"%s\"}"
                        .formatted(other.name()))
                .status())
        .isEqualTo(403);
  }

  @Test
  void the_first_start_leaves_a_token_that_nobody_else_can_read(@TempDir Path directory)
      throws Exception {
    ServerConfig config =
        ServerConfig.defaults(directory)
            .withAddress("127.0.0.1", 0)
            .withRoles(Set.of(ServerRole.WEB))
            .withUpkeep(false); // other tests' tenants are not for it to look after
    String token;
    try (TestServer first = TestServer.start(config)) {
      token = TestServer.tokenIn(directory);
      assertThat(first.server().newToken()).contains(token);
      assertThat(
              new Caller(first.port(), Optional.of(token), Optional.empty())
                  .get("/api/v1/tenants")
                  .status())
          .isEqualTo(200);
    }
    assertThat(
            PosixFilePermissions.toString(
                Files.getPosixFilePermissions(directory.resolve("admin.token"))))
        .isEqualTo("rw-------");
    try (TestServer second = TestServer.start(config)) {
      assertThat(second.server().newToken()).isEmpty();
      assertThat(
              new Caller(second.port(), Optional.of(token), Optional.of(TenantName.DEFAULT))
                  .get("/api/v1/jobs")
                  .status())
          .isEqualTo(200);
    }
  }

  @Test
  void pages_of_others_get_nothing() {
    Caller admin = TestServer.shared().as(Role.ADMIN, tenant.name());

    assertThat(with(admin, "Origin", "http://evil.example").status()).isEqualTo(403);
    assertThat(with(admin, "Origin", "http://127.0.0.1:" + admin.port()).status()).isEqualTo(201);
    assertThat(with(admin, "Origin", "http://127.0.0.1:3000").status()).isEqualTo(403);
    assertThat(with(admin, "Content-Type", "text/plain").status()).isEqualTo(415);
    assertThat(with(admin, "Content-Type", "application/x-www-form-urlencoded").status())
        .isEqualTo(415);
  }

  private static Reply with(Caller caller, String header, String value) {
    return Caller.send(
        HttpRequest.newBuilder(URI.create("http://127.0.0.1:" + caller.port() + "/api/v1/jobs"))
            .POST(BodyPublishers.ofString("{\"kind\": \"a\"}"))
            .header("Authorization", "Bearer " + caller.token().orElseThrow())
            .setHeader("Content-Type", "application/json")
            .setHeader(header, value)
            .build());
  }

  @Test
  void only_headers_are_asked_for_by_the_same_rules() {
    Caller viewer = TestServer.shared().as(Role.VIEWER, tenant.name());
    Caller nobody = new Caller(viewer.port(), Optional.empty(), Optional.empty());

    assertThat(viewer.send("HEAD", "/api/v1/jobs", Optional.empty()).status()).isEqualTo(200);
    assertThat(nobody.send("HEAD", "/api/v1/jobs", Optional.empty()).status()).isEqualTo(401);
    assertThat(viewer.send("HEAD", "/api/v1/events", Optional.empty()).status()).isEqualTo(405);
  }

  @Test
  void without_tokens_a_server_listens_to_its_own_machine_alone() {
    ServerConfig config = TestServer.config().withAuth(false);
    try (TestServer open = TestServer.start(config)) {
      assertThat(
              new Caller(open.port(), Optional.empty(), Optional.of(tenant.name()))
                  .get("/api/v1/jobs")
                  .status())
          .isEqualTo(200);
    }
    org.assertj.core.api.Assertions.assertThatThrownBy(() -> config.withAddress("0.0.0.0", 0))
        .hasMessageContaining("auth");
  }

  private static List<Route> guarded() {
    return guardedAndStreams().stream().filter(route -> !STREAMS.contains(route.path())).toList();
  }

  private static List<Route> guardedAndStreams() {
    return TestServer.shared().server().routes().stream()
        .filter(route -> route.role().isPresent())
        .toList();
  }

  private static Reply ask(Caller caller, Route route) {
    String path =
        route
            .path()
            .replace("{tenant}", caller.tenant().orElse(TenantName.DEFAULT).value())
            .replaceAll("\\{(\\w+_)?id}", "00000000-0000-4000-8000-000000000000")
            .replace("{name}", route.path().contains("tenants") ? "nobody_has_it" : "TOKEN_LIMIT")
            .replace("{type}", "site");
    if (route.isPage() && route.method() == Route.Method.POST) {
      return caller.form(path, "");
    }
    boolean takesBody = Stream.of("POST", "PUT", "PATCH").anyMatch(route.method().name()::equals);
    return caller.send(
        route.method().name(), path, takesBody ? Optional.of("{}") : Optional.empty());
  }
}
