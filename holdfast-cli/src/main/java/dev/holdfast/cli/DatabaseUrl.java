package dev.holdfast.cli;

import dev.holdfast.error.HoldfastException;
import java.net.URLDecoder;
import java.net.URLEncoder;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * The address of a database, as {@code postgresql://…} or {@code jdbc:postgresql:…}, with one host
 * or several, of which one is the primary.
 */
record DatabaseUrl(String jdbc) {

  private static final String FORMS =
      "postgresql://user:password@host:5432/database or jdbc:postgresql://…";

  // Not parsed by java.net.URI, which allows one host; here, several may be separated by commas.
  private static final Pattern URL =
      Pattern.compile(
          "postgres(?:ql)?://(?:(?<user>[^:@/?]*)(?::(?<password>[^@/?]*))?@)?"
              + "(?<hosts>[\\w.,:\\[\\]-]*)/(?<database>[^?\\s]*)(?:\\?(?<query>\\S*))?");
  // The name of this parameter in other clients.
  private static final Pattern SESSION =
      Pattern.compile("target_session_attrs=(primary|read-write)");

  static DatabaseUrl parse(String text) {
    return parse("--database-url", text);
  }

  static DatabaseUrl parse(String setting, String text) {
    if (text.startsWith("jdbc:postgresql:")) {
      return new DatabaseUrl(text);
    }
    Matcher url = URL.matcher(text);
    if (!url.matches()) {
      throw HoldfastException.badConfig(setting, withoutPassword(text), FORMS);
    }
    try {
      return new DatabaseUrl(toJdbc(url));
    } catch (IllegalArgumentException e) { // a percent sign without an escape
      throw HoldfastException.badConfig(setting, withoutPassword(text), FORMS);
    }
  }

  private static String toJdbc(Matcher url) {
    List<String> parameters = new ArrayList<>();
    if (url.group("user") != null) {
      parameters.add("user=" + reencoded(url.group("user")));
    }
    if (url.group("password") != null) {
      parameters.add("password=" + reencoded(url.group("password")));
    }
    if (url.group("query") != null) {
      parameters.add(SESSION.matcher(url.group("query")).replaceAll("targetServerType=primary"));
    }
    String hosts = url.group("hosts").isEmpty() ? "localhost" : url.group("hosts");
    String query = parameters.isEmpty() ? "" : "?" + String.join("&", parameters);
    return "jdbc:postgresql://" + hosts + "/" + url.group("database") + query;
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
