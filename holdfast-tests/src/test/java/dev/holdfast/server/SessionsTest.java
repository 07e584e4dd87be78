package dev.holdfast.server;

import static java.nio.charset.StandardCharsets.US_ASCII;
import static org.assertj.core.api.Assertions.assertThat;

import dev.holdfast.server.auth.Role;
import dev.holdfast.tenant.TenantName;
import dev.holdfast.testkit.TestTenant;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.net.CookieManager;
import java.net.HttpCookie;
import java.net.InetAddress;
import java.net.Socket;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpRequest.BodyPublishers;
import java.net.http.HttpResponse;
import java.net.http.HttpResponse.BodyHandlers;
import java.util.List;
import java.util.Optional;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

/** Signing in, staying so on every node, and out; and what a page proves before it is obeyed. */
class SessionsTest {

  private static final Pattern CSRF = Pattern.compile("name=\"_csrf\" value=\"([^\"]+)\"");

  @RegisterExtension final TestTenant tenant = new TestTenant();

  @Test
  void a_strangers_form_is_refused_by_its_size_before_it_is_read() throws Exception {
    String head =
        "POST /ui/login HTTP/1.1\r\nHost: 127.0.0.1:%d\r\n".formatted(port())
            + "Content-Type: application/x-www-form-urlencoded\r\nContent-Length: 1000000\r\n\r\n";

    // Not a byte of the body is sent, and the answer comes all the same.
    try (Socket socket = new Socket(InetAddress.getLoopbackAddress(), port())) {
      socket.getOutputStream().write(head.getBytes(US_ASCII));
      assertThat(
              new BufferedReader(new InputStreamReader(socket.getInputStream(), US_ASCII))
                  .readLine())
          .contains("413");
    }
  }

  private static final class Visitor {
    private final CookieManager cookies = new CookieManager();
    private final HttpClient http = HttpClient.newBuilder().cookieHandler(cookies).build();

    HttpResponse<String> get(int port, String path) {
      return send(HttpRequest.newBuilder(uri(port, path)).build());
    }

    HttpResponse<String> post(int port, String path, String form) {
      return send(
          HttpRequest.newBuilder(uri(port, path))
              .header("Content-Type", "application/x-www-form-urlencoded")
              .header("Origin", "http://127.0.0.1:" + port)
              .POST(BodyPublishers.ofString(form))
              .build());
    }

    private HttpResponse<String> send(HttpRequest request) {
      try {
        return http.send(request, BodyHandlers.ofString());
      } catch (IOException e) {
        throw new IllegalStateException(e);
      } catch (InterruptedException e) {
        Thread.currentThread().interrupt();
        throw new IllegalStateException(e);
      }
    }

    Optional<HttpCookie> cookie(String name) {
      return cookies.getCookieStore().getCookies().stream()
          .filter(cookie -> cookie.getName().equals(name))
          .findFirst();
    }

    String csrf(int port, String path) {
      Matcher found = CSRF.matcher(get(port, path).body());
      assertThat(found.find()).as("a form on " + path).isTrue();
      return found.group(1);
    }
  }

  private static URI uri(int port, String path) {
    return URI.create("http://127.0.0.1:" + port + path);
  }

  private static int port() {
    return TestServer.shared().port();
  }

  private Visitor signedIn(Role role) {
    Visitor visitor = new Visitor();
    String token = TestServer.shared().token(role, Optional.of(tenant.name()));
    String csrf = visitor.csrf(port(), "/ui/login");
    HttpResponse<String> in =
        visitor.post(port(), "/ui/login", "_csrf=%s&token=%s".formatted(csrf, token));
    assertThat(in.statusCode()).isEqualTo(303);
    return visitor;
  }

  @Test
  void the_printed_address_becomes_a_session_and_leaves_the_address_bar() {
    Visitor visitor = new Visitor();
    String token = TestServer.shared().token(Role.VIEWER, Optional.of(tenant.name()));

    HttpResponse<String> entered = visitor.get(port(), "/ui?token=" + token);

    assertThat(entered.statusCode()).isEqualTo(303);
    assertThat(entered.headers().firstValue("Location")).contains("/ui/overview");
    String cookie =
        entered.headers().allValues("Set-Cookie").stream()
            .filter(each -> each.startsWith("holdfast_session="))
            .findFirst()
            .orElseThrow();
    assertThat(cookie).contains("HttpOnly").contains("SameSite=Strict").contains("Path=/ui");
    assertThat(cookie).doesNotContain(token);
    assertThat(visitor.get(port(), "/ui/overview").statusCode()).isEqualTo(200);
  }

  @Test
  void a_session_is_kept_as_its_hash_and_served_by_any_node() {
    Visitor visitor = signedIn(Role.VIEWER);
    String session = visitor.cookie("holdfast_session").orElseThrow().getValue();
    int stored =
        tenant
            .holdfast()
            .tenants()
            .control()
            .jdbi()
            .withHandle(handle ->
                handle
                    .createQuery("SELECT count(*) FROM holdfast.session s WHERE s::text LIKE :it")
                    .bind("it", "%" + session + "%")
                    .mapTo(Integer.class)
                    .one());

    assertThat(stored).isZero();
    try (TestServer other = TestServer.start()) {
      assertThat(visitor.get(other.port(), "/ui/jobs").statusCode()).isEqualTo(200);
    }
  }

  @Test
  void signing_out_ends_the_session_for_whoever_copied_the_cookie() {
    Visitor visitor = signedIn(Role.VIEWER);
    String session = visitor.cookie("holdfast_session").orElseThrow().getValue();
    String csrf = visitor.csrf(port(), "/ui/jobs");

    visitor.post(port(), "/ui/logout", "_csrf=" + csrf);

    Visitor thief = new Visitor();
    HttpCookie copied = new HttpCookie("holdfast_session", session);
    copied.setPath("/");
    thief.cookies.getCookieStore().add(uri(port(), "/ui"), copied);
    assertThat(visitor.get(port(), "/ui/jobs").statusCode()).isEqualTo(401);
    assertThat(thief.get(port(), "/ui/jobs").statusCode()).isEqualTo(401);
  }

  @Test
  void revoking_the_token_ends_its_sessions() {
    Visitor visitor = signedIn(Role.VIEWER);
    assertThat(visitor.get(port(), "/ui/jobs").statusCode()).isEqualTo(200);

    Caller admin = TestServer.shared().as(Role.ADMIN, tenant.name());
    admin
        .get("/api/v1/tokens")
        .json()
        .path("tokens")
        .forEach(token -> {
          if (token.path("role").asString().equals("viewer")) {
            admin.send("DELETE", "/api/v1/tokens/" + token.path("id").asString(), Optional.empty());
          }
        });

    assertThat(visitor.get(port(), "/ui/jobs").statusCode()).isEqualTo(401);
  }

  @Test
  void an_expired_session_is_none() {
    Visitor visitor = signedIn(Role.VIEWER);

    tenant
        .holdfast()
        .tenants()
        .control()
        .jdbi()
        .useHandle(handle ->
            handle.execute(
                """
                UPDATE holdfast.session SET expires_at = now() - interval '1 second'
                 WHERE token_id IN (SELECT id FROM holdfast.token WHERE tenant = ?)
                """,
                tenant.name().value()));

    assertThat(visitor.get(port(), "/ui/jobs").statusCode()).isEqualTo(401);
  }

  @Test
  void a_cookie_is_not_let_into_the_api() {
    Visitor visitor = signedIn(Role.ADMIN);
    HttpCookie everywhere =
        new HttpCookie(
            "holdfast_session", visitor.cookie("holdfast_session").orElseThrow().getValue());
    everywhere.setPath("/");
    visitor.cookies.getCookieStore().add(uri(port(), "/"), everywhere);

    assertThat(visitor.get(port(), "/api/v1/jobs").statusCode()).isEqualTo(401);
  }

  @Test
  void a_form_without_its_proof_does_nothing() {
    Visitor visitor = signedIn(Role.ADMIN);
    String form = "name=default&paused=true";

    assertThat(visitor.post(port(), "/ui/do/queue", form).statusCode()).isEqualTo(403);
    assertThat(visitor.post(port(), "/ui/do/queue", form + "&_csrf=x").statusCode()).isEqualTo(403);
    assertThat(tenant.queues().get("default").paused()).isFalse();
    String csrf = visitor.csrf(port(), "/ui/queues");
    assertThat(visitor.post(port(), "/ui/do/queue", form + "&_csrf=" + csrf).statusCode())
        .isEqualTo(303);
    assertThat(tenant.queues().get("default").paused()).isTrue();
  }

  @Test
  void a_form_of_one_tenants_page_does_nothing_in_another() {
    Visitor visitor = signedIn(Role.SYSTEM);
    String csrf = visitor.csrf(port(), "/ui/queues"); // of the default tenant
    visitor.post(port(), "/ui/do/look", "_csrf=%s&tenant=%s".formatted(csrf, tenant.name()));

    HttpResponse<String> answer =
        visitor.post(port(), "/ui/do/queue", "_csrf=%s&name=default&paused=true".formatted(csrf));

    assertThat(answer.statusCode()).isEqualTo(403);
    assertThat(tenant.queues().get("default").paused()).isFalse();
    assertThat(tenant.holdfast().queues(TenantName.DEFAULT).get("default").paused()).isFalse();
  }

  @Test
  void nobody_is_sent_elsewhere_after_signing_in() {
    for (String next :
        List.of("https://evil.example/", "//evil.example", "/ui//evil", "/ui/\\evil", "/api")) {
      Visitor visitor = new Visitor();
      String token = TestServer.shared().token(Role.VIEWER, Optional.of(tenant.name()));
      String csrf = visitor.csrf(port(), "/ui/login");
      HttpResponse<String> in =
          visitor.post(
              port(), "/ui/login", "_csrf=%s&token=%s&next=%s".formatted(csrf, token, next));
      assertThat(in.headers().firstValue("Location")).as(next).contains("/ui/overview");
    }
  }

  @Test
  void a_wrong_token_is_told_so_and_begins_nothing() {
    Visitor visitor = new Visitor();
    String csrf = visitor.csrf(port(), "/ui/login");

    HttpResponse<String> answer =
        visitor.post(port(), "/ui/login", "_csrf=%s&token=hf_wrong".formatted(csrf));

    assertThat(answer.statusCode()).isEqualTo(401);
    assertThat(answer.body()).contains("unknown, expired or revoked");
    assertThat(visitor.cookie("holdfast_session")).isEmpty();
  }

  @Test
  void whoever_is_not_signed_in_gets_the_page_to_sign_in_and_comes_back() {
    HttpResponse<String> answer = new Visitor().get(port(), "/ui/jobs?state=failed");

    assertThat(answer.statusCode()).isEqualTo(401);
    assertThat(answer.body()).contains("Sign in").contains("value=\"/ui/jobs?state=failed\"");
    assertThat(answer.headers().firstValue("WWW-Authenticate")).isEmpty();
  }

  @Test
  void without_authentication_there_is_no_signing_in_and_forms_still_prove_themselves() {
    try (TestServer open = TestServer.start(TestServer.config().withAuth(false))) {
      Visitor visitor = new Visitor();
      assertThat(visitor.get(open.port(), "/ui/overview").statusCode()).isEqualTo(200);
      assertThat(visitor.get(open.port(), "/ui/login").statusCode()).isEqualTo(303);
      assertThat(visitor.post(open.port(), "/ui/do/look", "tenant=" + tenant.name()).statusCode())
          .isEqualTo(403);
      String csrf = visitor.csrf(open.port(), "/ui/overview");
      assertThat(
              visitor
                  .post(
                      open.port(),
                      "/ui/do/look",
                      "_csrf=%s&tenant=%s".formatted(csrf, tenant.name()))
                  .statusCode())
          .isEqualTo(303);
      assertThat(visitor.get(open.port(), "/ui/overview").body()).contains(tenant.name().value());
    }
  }

  @Test
  void pages_allow_nothing_inline_and_nothing_from_elsewhere() {
    HttpResponse<String> page = signedIn(Role.ADMIN).get(port(), "/ui/overview");

    assertThat(page.headers().firstValue("Content-Security-Policy").orElseThrow())
        .contains("default-src 'none'")
        .contains("frame-ancestors 'none'")
        .doesNotContain("unsafe");
    assertThat(page.body()).doesNotContain("<script>").doesNotContain(" style=");
    assertThat(page.headers().firstValue("Cache-Control")).contains("no-store");
  }

  @Test
  void a_viewer_sees_no_button_it_may_not_press() {
    LivelyTenant lively = LivelyTenant.in(TestServer.shared(), tenant.name());
    Visitor viewer = signedIn(Role.VIEWER);

    for (String path :
        List.of(
            "/ui/overview",
            "/ui/jobs",
            "/ui/jobs/" + lively.failed,
            "/ui/queues",
            "/ui/resources",
            "/ui/resource?name=target:site-42",
            "/ui/schedules",
            "/ui/schedule?name=nightly-report",
            "/ui/workers",
            "/ui/settings")) {
      HttpResponse<String> page = viewer.get(port(), path);
      assertThat(page.statusCode()).as(path).isEqualTo(200);
      assertThat(page.body()).as(path).doesNotContain("/ui/do/").doesNotContain("customer-16\"");
    }
    assertThat(viewer.get(port(), "/ui/audit").statusCode()).isEqualTo(403);
    assertThat(viewer.get(port(), "/ui/tokens").statusCode()).isEqualTo(403);
    assertThat(viewer.get(port(), "/ui/tokens").headers().firstValue("Content-Type").orElse(""))
        .startsWith("text/html");
  }

  @Test
  void an_operator_is_offered_no_cancelling() {
    LivelyTenant lively = LivelyTenant.in(TestServer.shared(), tenant.name());
    Visitor operator = signedIn(Role.OPERATOR);

    String page = operator.get(port(), "/ui/jobs/" + lively.queued).body();

    assertThat(page).contains("/ui/do/job-pause").doesNotContain("/ui/do/job-cancel");
    assertThat(page).doesNotContain("/ui/do/job-stop"); // it would be cancelled by that
  }

  @Test
  void what_is_not_there_is_a_page_too() {
    Visitor viewer = signedIn(Role.VIEWER);

    HttpResponse<String> job = viewer.get(port(), "/ui/jobs/00000000-0000-4000-8000-000000000000");
    HttpResponse<String> page = viewer.get(port(), "/ui/nothing");

    assertThat(job.statusCode()).isEqualTo(404);
    assertThat(job.body()).contains("There is no job").contains("To the overview");
    assertThat(page.statusCode()).isEqualTo(404);
    assertThat(page.headers().firstValue("Content-Type").orElse("")).startsWith("text/html");
  }
}
