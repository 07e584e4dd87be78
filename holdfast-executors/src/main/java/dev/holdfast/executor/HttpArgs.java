package dev.holdfast.executor;

import dev.holdfast.error.HoldfastException;
import java.net.URI;
import java.net.URISyntaxException;
import java.time.Duration;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * The arguments of a job of kind {@code http}.
 *
 * @param timeout for the whole call, including redirects
 * @param secrets names of secrets that headers and body contain as <code>${NAME}</code>
 */
record HttpArgs(
    String method,
    URI url,
    Map<String, String> headers,
    Optional<String> body,
    Duration timeout,
    List<String> secrets) {

  private static final Set<String> FIELDS =
      Set.of("method", "url", "headers", "body", "timeout_seconds", "secrets");
  private static final Set<String> METHODS =
      Set.of("GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS");

  private static final Duration USUAL_TIMEOUT = Duration.ofSeconds(30);
  private static final Duration LONGEST_TIMEOUT = Duration.ofHours(1);

  static HttpArgs read(@Nullable Object json) {
    Arguments args = new Arguments(json, FIELDS);
    return new HttpArgs(
        method(args.text("method").orElse("GET")),
        url(args.text("url").orElse("")),
        args.textByName("headers"),
        args.text("body"),
        args.seconds("timeout_seconds", LONGEST_TIMEOUT).orElse(USUAL_TIMEOUT),
        args.texts("secrets"));
  }

  private static String method(String said) {
    String method = said.toUpperCase(Locale.ROOT);
    if (!METHODS.contains(method)) {
      throw HoldfastException.invalid(
          "method", said, "GET, HEAD, POST, PUT, PATCH, DELETE, OPTIONS");
    }
    return method;
  }

  private static URI url(String text) {
    try {
      URI url = new URI(text);
      if (isHttp(url.getScheme())
          && url.getHost() != null
          && url.getUserInfo() == null
          && url.getPort() <= 65_535) {
        return url;
      }
    } catch (URISyntaxException e) {
      // Refused below, without the text, which may contain a secret.
    }
    throw HoldfastException.invalid(
        "url", text.length() + " characters", "http:// or https://, a host, no password");
  }

  private static boolean isHttp(@Nullable String scheme) {
    return "http".equalsIgnoreCase(scheme) || "https".equalsIgnoreCase(scheme);
  }

  /** The same call, with secrets filled in. */
  HttpArgs with(Map<String, String> values) {
    HttpArgs filled = this;
    for (Map.Entry<String, String> secret : values.entrySet()) {
      filled = filled.with("${" + secret.getKey() + "}", secret.getValue());
    }
    return filled;
  }

  private HttpArgs with(String mention, String value) {
    Map<String, String> filled = new LinkedHashMap<>(headers);
    filled.replaceAll((name, text) -> text.replace(mention, value));
    return new HttpArgs(
        method, url, filled, body.map(text -> text.replace(mention, value)), timeout, secrets);
  }

  /** The same call after a redirect within the site. */
  HttpArgs at(URI next, String method) {
    boolean keepsBody = method.equals(this.method);
    return new HttpArgs(
        method, next, headers, keepsBody ? body : Optional.empty(), timeout, secrets);
  }

  boolean isSameSite(URI other) {
    return url.getScheme().equalsIgnoreCase(other.getScheme())
        && url.getHost().equalsIgnoreCase(other.getHost())
        && port(url) == port(other);
  }

  private static int port(URI url) {
    int usual = "https".equalsIgnoreCase(url.getScheme()) ? 443 : 80;
    return url.getPort() < 0 ? usual : url.getPort();
  }

  /** The URL without its query, which may contain keys. */
  String where() {
    String port = url.getPort() < 0 ? "" : ":" + url.getPort();
    return method + " " + url.getScheme() + "://" + url.getHost() + port + url.getRawPath();
  }

  /** Records show their values, and these may contain secrets. */
  @Override
  public String toString() {
    return where();
  }
}
