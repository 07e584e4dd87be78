package dev.holdfast.cli;

import dev.holdfast.error.HoldfastException;
import java.net.URI;
import java.net.URISyntaxException;
import java.net.URLDecoder;
import java.net.URLEncoder;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;

/** A database's address as people have it: {@code postgresql://…} or {@code jdbc:postgresql:…}. */
record DatabaseUrl(String jdbc) {

  private static final String FORMS =
      "postgresql://user:password@host:5432/database or jdbc:postgresql://…";

  static DatabaseUrl parse(String text) {
    if (text.startsWith("jdbc:postgresql:")) {
      return new DatabaseUrl(text);
    }
    if (!text.startsWith("postgresql://") && !text.startsWith("postgres://")) {
      throw HoldfastException.badConfig("--database-url", withoutPassword(text), FORMS);
    }
    try {
      return new DatabaseUrl(toJdbc(new URI(text)));
    } catch (URISyntaxException e) {
      throw HoldfastException.badConfig("--database-url", withoutPassword(text), FORMS);
    }
  }

  private static String toJdbc(URI uri) {
    List<String> parameters = new ArrayList<>();
    if (uri.getRawUserInfo() != null) {
      String[] userInfo = uri.getRawUserInfo().split(":", 2);
      parameters.add("user=" + reencoded(userInfo[0]));
      if (userInfo.length == 2) {
        parameters.add("password=" + reencoded(userInfo[1]));
      }
    }
    if (uri.getRawQuery() != null) {
      parameters.add(uri.getRawQuery());
    }
    String port = uri.getPort() < 0 ? "" : ":" + uri.getPort();
    String host = uri.getHost() == null ? "localhost" : uri.getHost();
    String query = parameters.isEmpty() ? "" : "?" + String.join("&", parameters);
    return "jdbc:postgresql://" + host + port + uri.getRawPath() + query;
  }

  private static String reencoded(String part) {
    return URLEncoder.encode(
        URLDecoder.decode(part.replace("+", "%2B"), StandardCharsets.UTF_8),
        StandardCharsets.UTF_8);
  }

  private static String withoutPassword(String text) {
    return text.replaceFirst(":[^:@/]*@", ":…@");
  }

  @Override
  public String toString() {
    return withoutPassword(jdbc).replaceFirst("password=[^&]*", "password=…");
  }
}
