package dev.holdfast.server;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.holdfast.error.HoldfastException;
import dev.holdfast.server.auth.Role;
import dev.holdfast.server.http.Proxies;
import java.io.IOException;
import java.net.InetAddress;
import java.net.Socket;
import java.util.Optional;
import java.util.Set;
import org.junit.jupiter.api.Test;

/** What proxies say is believed of those who are trusted, and of nobody else. */
class BehindProxyTest {

  @Test
  void a_trusted_proxys_word_about_the_name_counts() throws IOException {
    ServerConfig config =
        TestServer.config()
            .withNames(Set.of("jobs.example"))
            .withProxies(new Proxies(Set.of("127.0.0.0/8")));
    try (TestServer server = TestServer.start(config)) {
      assertThat(ask(server, "Host: inner\r\nX-Forwarded-Host: jobs.example")).contains(" 200 ");
      assertThat(ask(server, "Host: inner\r\nForwarded: host=jobs.example")).contains(" 200 ");
      assertThat(ask(server, "Host: localhost\r\nX-Forwarded-Host: other.example"))
          .contains(" 421 ", "UNKNOWN_HOST");
    }
  }

  @Test
  void anybody_elses_word_does_not() throws IOException {
    ServerConfig config =
        TestServer.config()
            .withNames(Set.of("jobs.example"))
            .withProxies(new Proxies(Set.of("10.0.0.5")));
    try (TestServer server = TestServer.start(config)) {
      assertThat(ask(server, "Host: inner\r\nX-Forwarded-Host: jobs.example")).contains(" 421 ");
      assertThat(ask(server, "Host: jobs.example\r\nX-Forwarded-Host: other")).contains(" 200 ");
    }
  }

  @Test
  void a_page_of_the_proxied_site_is_not_a_foreign_one() throws IOException {
    ServerConfig config =
        TestServer.config()
            .withNames(Set.of("jobs.example"))
            .withProxies(new Proxies(Set.of("127.0.0.1")));
    try (TestServer server = TestServer.start(config)) {
      String forwarded = "Host: inner\r\nX-Forwarded-Host: jobs.example\r\nOrigin: https://";

      assertThat(ask(server, forwarded + "jobs.example")).contains(" 200 ");
      assertThat(ask(server, forwarded + "evil.example")).contains(" 403 ", "FOREIGN_ORIGIN");
    }
  }

  @Test
  void a_link_signs_in_from_this_machine_or_by_tls_alone() throws IOException {
    ServerConfig config = TestServer.config().withProxies(new Proxies(Set.of("127.0.0.1")));
    try (TestServer server = TestServer.start(config)) {
      String token = server.token(Role.SYSTEM, Optional.empty());
      String link =
          "GET /ui?token=" + token + " HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n";
      String elsewhere = "X-Forwarded-For: 203.0.113.7\r\n";

      assertThat(exchange(server, link + "\r\n")).contains(" 303 ", "holdfast_session");
      assertThat(exchange(server, link + elsewhere + "\r\n"))
          .contains(" 403 ", "Paste the token")
          .doesNotContain("holdfast_session", token);
      assertThat(exchange(server, link + elsewhere + "X-Forwarded-Proto: https\r\n\r\n"))
          .contains(" 303 ", "holdfast_session");
    }
  }

  @Test
  void what_is_no_address_is_refused_by_name() {
    assertThatThrownBy(() -> new Proxies(Set.of("10.0.0.0/64")))
        .isInstanceOf(HoldfastException.class)
        .hasMessageContaining("trusted-proxies")
        .hasMessageContaining("10.0.0.0/64");
  }

  @Test
  void what_cannot_be_read_as_http_is_answered_as_a_problem_too() throws IOException {
    for (String line :
        new String[] {"GET /%zz HTTP/1.1", "GET /a\\b|{} HTTP/1.1", "G\u0001T / HTTP/1.1"}) {
      assertThat(exchange(TestServer.shared(), line + "\r\nHost: localhost\r\n\r\n"))
          .as(line)
          .contains(" 400 ", "application/problem+json", "\"code\":\"UNREADABLE\"")
          .doesNotContain("<html>", "jetty", "Exception");
    }
  }

  private static String ask(TestServer server, String headers) throws IOException {
    return exchange(
        server, "GET /openapi.json HTTP/1.1\r\n" + headers + "\r\nConnection: close\r\n\r\n");
  }

  // By hand, because a client would not send them.
  private static String exchange(TestServer server, String request) throws IOException {
    try (Socket socket = new Socket(InetAddress.getLoopbackAddress(), server.port())) {
      socket.getOutputStream().write(request.getBytes(UTF_8));
      socket.getOutputStream().flush();
      socket.shutdownOutput();
      return new String(socket.getInputStream().readAllBytes(), UTF_8);
    }
  }
}
