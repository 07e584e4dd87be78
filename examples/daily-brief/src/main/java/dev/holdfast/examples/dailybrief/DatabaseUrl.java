package dev.holdfast.examples.dailybrief;

import java.net.URI;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;

/** A database's address as people have it, made one for JDBC. */
final class DatabaseUrl {

  private DatabaseUrl() {}

  /**
   * Takes {@code postgresql://…} and {@code jdbc:postgresql:…}.
   *
   * @throws IllegalArgumentException for others; its message repeats no password
   */
  static String toJdbc(String url) {
    if (url.startsWith("jdbc:postgresql:")) {
      return url;
    }
    if (!url.startsWith("postgresql://") && !url.startsWith("postgres://")) {
      throw refused();
    }
    try {
      return toJdbc(URI.create(url));
    } catch (IllegalArgumentException e) {
      throw refused();
    }
  }

  private static String toJdbc(URI uri) {
    String authority = Optional.ofNullable(uri.getRawAuthority()).orElse("localhost");
    int at = authority.lastIndexOf('@');
    List<String> parameters = new ArrayList<>();
    if (at >= 0) {
      String[] userInfo = authority.substring(0, at).split(":", 2);
      parameters.add("user=" + escaped(userInfo[0]));
      if (userInfo.length == 2) {
        parameters.add("password=" + escaped(userInfo[1]));
      }
    }
    Optional.ofNullable(uri.getRawQuery()).ifPresent(parameters::add);
    return "jdbc:postgresql://"
        + authority.substring(at + 1)
        + uri.getRawPath()
        + (parameters.isEmpty() ? "" : "?" + String.join("&", parameters));
  }

  // Escapes mean the same there; these two are plain in a password and not in a parameter.
  private static String escaped(String part) {
    return part.replace("&", "%26").replace("+", "%2B");
  }

  private static IllegalArgumentException refused() {
    return new IllegalArgumentException(
        "--database-url: expected postgresql://user:password@host:5432/database"
            + " or jdbc:postgresql://…");
  }
}
