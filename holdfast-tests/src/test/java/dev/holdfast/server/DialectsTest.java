package dev.holdfast.server;

import static org.assertj.core.api.Assertions.assertThat;

import dev.holdfast.job.NewJob;
import dev.holdfast.server.Caller.Reply;
import dev.holdfast.server.auth.Role;
import dev.holdfast.server.http.Route;
import dev.holdfast.server.http.Style;
import dev.holdfast.testkit.TestTenant;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.UUID;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

/** What all dialects have in common: clients of other systems are served as they are. */
class DialectsTest {

  @RegisterExtension final TestTenant tenant = new TestTenant();
  @RegisterExtension final TestTenant other = new TestTenant();

  private final String jobs = "/targets/" + UUID.randomUUID() + "/jobs/";

  @Test
  void a_body_is_json_whatever_its_content_type_says() {
    for (String type :
        List.of(
            "application/x-www-form-urlencoded",
            "text/plain",
            "application/octet-stream",
            "application/json; charset=utf-8")) {
      assertThat(open().with("Content-Type", type).post(jobs, "{\"api_name\": \"a\"}").status())
          .as(type)
          .isEqualTo(200);
    }
    assertThat(open().post(jobs, "{\"api_name\": \"a\"}").status()).isEqualTo(200);
    assertThat(
            open()
                .with("Content-Type", "application/json; charset=utf-16")
                .post(jobs, "{\"api_name\": \"a\"}")
                .status())
        .isEqualTo(415);
  }

  @Test
  void a_page_of_others_can_neither_send_nor_pull() {
    tenant.jobs().enqueue(NewJob.of("a", 1).withQueue("pull"));
    for (Map<String, String> foreign :
        List.of(
            Map.of("Origin", "http://evil.example"),
            Map.of("Origin", "null"),
            Map.of("Origin", "http://127.0.0.1:1"),
            Map.of("Sec-Fetch-Site", "cross-site"),
            Map.of("Sec-Fetch-Site", "same-site"))) {
      Reply sent = open().with(foreign).post(jobs, "{\"api_name\": \"a\"}");
      assertThat(sent.status()).as(foreign.toString()).isEqualTo(403);
      assertThat(sent.json().propertyNames()).containsExactly("detail");
      assertThat(open().with(foreign).get("/api/pull_job").status()).isEqualTo(403);
    }
    assertThat(tenant.query("SELECT id FROM {schema}.job WHERE attempt > 0 OR target IS NOT NULL"))
        .isEmpty();
    assertThat(open().with("Sec-Fetch-Site", "none").get("/jobs/").status()).isEqualTo(200);
  }

  @Test
  void errors_are_a_detail_wherever_a_dialects_paths_begin() {
    for (Reply reply :
        List.of(
            open().get("/jobs/?limit=x"),
            open().get(jobs + "nothing/there"),
            open().send("PUT", jobs, Optional.of("{}")),
            open().post(jobs, "x".repeat(17 << 20)),
            PlainHttp.at("http://127.0.0.1:" + TestServer.shared().port()).get("/jobs/"),
            PlainHttp.at("http://127.0.0.1:" + TestServer.open().port())
                .get("/t/nobody_has_it/jobs/"))) {
      assertThat(reply.status()).as(reply.text()).isBetween(400, 499);
      assertThat(reply.contentType()).startsWith("application/json");
      assertThat(reply.json().propertyNames()).containsExactly("detail");
    }
    assertThat(TestServer.shared().as(Role.VIEWER, tenant.name()).get("/api/v1/x").contentType())
        .startsWith("application/problem+json");
  }

  @Test
  void a_slash_at_the_end_is_optional_but_where_it_tells_two_systems_apart() {
    String id = open().post(jobs, "{\"api_name\": \"a\"}").json().path("id").asString();
    String plain = jobs.substring(0, jobs.length() - 1);

    for (String path : List.of(plain, jobs, jobs + id, jobs + id + "/")) {
      assertThat(open().get(path).text()).as(path).contains(id);
    }
    assertThat(open().post(plain, "{\"api_name\": \"a\"}").status()).isEqualTo(200);
    assertThat(open().post(jobs + id + "/interrupt").json().path("status").asString())
        .isEqualTo("error");
    assertThat(open().get("/jobs/").json().path("total_count").asInt()).isEqualTo(2);
    assertThat(open().get("/jobs").text()).doesNotContain("total_count");
  }

  @Test
  void the_tenant_is_the_tokens_the_headers_or_the_paths_and_they_must_agree() {
    TestServer server = TestServer.shared();
    String root = "http://127.0.0.1:" + server.port();
    String token = "Bearer " + server.token(Role.SUBMITTER, Optional.of(tenant.name()));
    String system = "Bearer " + server.token(Role.SYSTEM, Optional.empty());
    String mine = "/t/" + tenant.name().value();
    String theirs = "/t/" + other.name().value();

    PlainHttp own = PlainHttp.at(root).with("Authorization", token);
    assertThat(own.post(jobs, "{\"api_name\": \"a\"}").status()).isEqualTo(200);
    assertThat(own.get(mine + "/jobs/").json().path("total_count").asInt()).isEqualTo(1);
    assertThat(own.get(theirs + "/jobs/").status()).isEqualTo(403);
    PlainHttp anybodys = PlainHttp.at(root).with("Authorization", system);
    assertThat(anybodys.get(mine + "/jobs/").json().path("total_count").asInt()).isEqualTo(1);
    assertThat(anybodys.get(theirs + "/jobs/").json().path("total_count").asInt()).isZero();
    PlainHttp torn =
        PlainHttp.at(root)
            .with(Map.of("Authorization", system, "X-Holdfast-Tenant", tenant.name().value()));
    assertThat(torn.get("/jobs/").json().path("total_count").asInt()).isEqualTo(1);
    assertThat(torn.get(theirs + "/jobs/").status()).isEqualTo(403);
  }

  @Test
  void every_route_of_a_dialect_stands_at_the_root_and_under_a_tenants_name() {
    List<Route> dialects =
        TestServer.shared().server().routes().stream()
            .filter(route -> route.style() == Style.DIALECT)
            .toList();
    List<String> names = dialects.stream().map(Route::toString).toList();

    assertThat(dialects).hasSizeGreaterThan(40);
    dialects.stream()
        .filter(route -> !route.path().startsWith("/t/"))
        .forEach(route -> assertThat(names).contains(route.underTenant().toString()));
    assertThat(names).doesNotHaveDuplicates();
  }

  private PlainHttp open() {
    return PlainHttp.at(TestServer.open().addressOf(tenant.name()));
  }
}
