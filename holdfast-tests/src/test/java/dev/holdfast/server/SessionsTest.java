package dev.holdfast.server;

import static java.nio.charset.StandardCharsets.US_ASCII;
import static org.assertj.core.api.Assertions.assertThat;

import dev.holdfast.server.auth.Role;
import java.io.BufferedReader;
import java.io.InputStreamReader;
import java.net.HttpCookie;
import java.net.InetAddress;
import java.net.Socket;
import java.net.http.HttpResponse;
import java.util.List;
import java.util.Optional;
import org.junit.jupiter.api.Test;

/** Signing in, staying so on every node, and out. */
class SessionsTest extends SessionsRig {

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
    thief.cookies.getCookieStore().add(Visitor.uri(port(), "/ui"), copied);
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
    visitor.cookies.getCookieStore().add(Visitor.uri(port(), "/"), everywhere);

    assertThat(visitor.get(port(), "/api/v1/jobs").statusCode()).isEqualTo(401);
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
}
