package dev.holdfast.server.ui;

import dev.holdfast.error.ErrorCode;
import dev.holdfast.error.HoldfastException;
import dev.holdfast.server.auth.Tokens;
import dev.holdfast.server.http.Answer;
import dev.holdfast.server.http.Request;
import dev.holdfast.server.http.Route;
import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.util.HexFormat;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Properties;

/**
 * Scripts, styles and pictures, all served by this server. Their addresses contain a version that
 * is computed from their contents, so that browsers may cache them for good.
 */
final class Assets {

  private static final String OWN = "/dev/holdfast/server/ui/";

  private record Asset(String type, String text) {}

  private final Map<String, Asset> assets = new LinkedHashMap<>();
  private final String version;

  Assets() {
    assets.put("app.css", own("app.css", "text/css"));
    assets.put("app.js", own("app.js", "text/javascript"));
    assets.put("icon.svg", own("icon.svg", "image/svg+xml"));
    assets.put(
        "htmx.js",
        read(
            "/META-INF/resources/webjars/htmx.org/%s/dist/htmx.min.js"
                .formatted(webjarVersion("htmx.org")),
            "text/javascript"));
    StringBuilder all = new StringBuilder();
    assets.values().forEach(asset -> all.append(asset.text()));
    this.version = HexFormat.of().formatHex(Tokens.hash(all.toString()), 0, 6);
  }

  // The version is set in the pom, and recorded in the jar.
  private static String webjarVersion(String name) {
    Properties properties = new Properties();
    String path = "/META-INF/maven/org.webjars.npm/%s/pom.properties".formatted(name);
    try (InputStream in = Assets.class.getResourceAsStream(path)) {
      if (in == null) {
        throw new IllegalStateException("no resource " + path);
      }
      properties.load(in);
      return properties.getProperty("version");
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  private static Asset own(String name, String type) {
    return read(OWN + name, type);
  }

  private static Asset read(String path, String type) {
    try (InputStream in = Assets.class.getResourceAsStream(path)) {
      if (in == null) {
        throw new IllegalStateException("no resource " + path);
      }
      return new Asset(
          type + "; charset=utf-8", new String(in.readAllBytes(), StandardCharsets.UTF_8));
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  String version() {
    return version;
  }

  Route route() {
    return Route.open("/ui/assets/{name}", "Scripts and styles", this::serve).asPage();
  }

  private Answer serve(Request request) {
    String name = request.path("name");
    Asset asset = assets.get(name);
    if (asset == null) {
      throw new HoldfastException(ErrorCode.NOT_FOUND, "there is no " + name);
    }
    request.http().res().setHeader("Cache-Control", "public, max-age=31536000, immutable");
    return Answer.text(asset.type(), asset.text());
  }
}
