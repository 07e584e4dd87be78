package dev.holdfast.server;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.net.CookieManager;
import java.net.HttpCookie;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpRequest.BodyPublishers;
import java.net.http.HttpResponse;
import java.net.http.HttpResponse.BodyHandlers;
import java.util.Optional;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** Somebody with a browser that keeps cookies. */
final class Visitor {

  private static final Pattern CSRF = Pattern.compile("name=\"_csrf\" value=\"([^\"]+)\"");

  final CookieManager cookies = new CookieManager();
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

  static URI uri(int port, String path) {
    return URI.create("http://127.0.0.1:" + port + path);
  }
}
