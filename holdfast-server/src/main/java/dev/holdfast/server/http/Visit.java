package dev.holdfast.server.http;

import static java.nio.charset.StandardCharsets.UTF_8;

import dev.holdfast.error.HoldfastException;
import dev.holdfast.server.auth.Tokens;
import dev.holdfast.tenant.TenantName;
import io.javalin.http.Context;
import io.javalin.http.Cookie;
import io.javalin.http.SameSite;
import java.security.MessageDigest;
import java.util.Base64;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/**
 * The state that a visitor's browser keeps in cookies for the pages. The visitor's secret is the
 * session or, without a session, one that only tells our own forms from those of others.
 */
public final class Visit {

  /** The field with which a form proves that it came from one of our pages. */
  public static final String CSRF_FIELD = "_csrf";

  private static final String SESSION = "holdfast_session";
  private static final String VISITOR = "holdfast_visitor";
  private static final String TENANT = "holdfast_tenant";
  private static final String THEME = "holdfast_theme";
  private static final String FLASH = "holdfast_flash";
  private static final String PATH = "/ui";

  private static final int A_YEAR = 365 * 24 * 3_600;
  private static final int A_MINUTE = 60;

  private final Context http;

  private Visit(Context http) {
    this.http = http;
  }

  public static Visit of(Context http) {
    return new Visit(http);
  }

  Optional<String> session() {
    return cookie(SESSION);
  }

  public void begin(String session, int seconds) {
    keep(SESSION, session, seconds);
  }

  /** Deletes the cookie of the session, and returns the session. */
  public Optional<String> end() {
    Optional<String> ended = session();
    keep(SESSION, "", 0);
    return ended;
  }

  /** The tenant that a visitor who belongs to no tenant looks at. */
  Optional<TenantName> tenant() {
    try {
      return cookie(TENANT).map(TenantName::new);
    } catch (HoldfastException e) {
      return Optional.empty(); // not a value of ours
    }
  }

  public void look(TenantName tenant) {
    keep(TENANT, tenant.value(), A_YEAR);
  }

  /** light or dark, if the visitor chose one; empty for the setting of the system. */
  public String theme() {
    return cookie(THEME).filter(theme -> theme.equals("light") || theme.equals("dark")).orElse("");
  }

  /** Shows a message on the next page, once. */
  public void say(String message) {
    keep(FLASH, Base64.getUrlEncoder().encodeToString(message.getBytes(UTF_8)), A_MINUTE);
  }

  public String said() {
    Optional<String> kept = cookie(FLASH);
    if (kept.isEmpty()) {
      return "";
    }
    keep(FLASH, "", 0);
    try {
      return new String(Base64.getUrlDecoder().decode(kept.get()), UTF_8);
    } catch (IllegalArgumentException e) {
      return ""; // not a value of ours
    }
  }

  /**
   * The proof for forms on a page about this tenant; it is not valid for forms of another tenant.
   */
  public String csrf(TenantName tenant) {
    String secret =
        session()
            .or(() -> cookie(VISITOR))
            .orElseGet(() -> {
              String drawn = Tokens.drawSecret();
              keep(VISITOR, drawn, A_YEAR);
              return drawn;
            });
    return csrf(secret, tenant);
  }

  private static String csrf(String secret, TenantName tenant) {
    byte[] hash = Tokens.hash("form of " + tenant + " for " + secret);
    return Base64.getUrlEncoder().withoutPadding().encodeToString(hash);
  }

  boolean admits(TenantName tenant, @Nullable String given) {
    return given != null
        && session()
            .or(() -> cookie(VISITOR))
            .filter(secret ->
                MessageDigest.isEqual(csrf(secret, tenant).getBytes(UTF_8), given.getBytes(UTF_8)))
            .isPresent();
  }

  private Optional<String> cookie(String name) {
    return Optional.ofNullable(http.cookie(name)).filter(value -> !value.isEmpty());
  }

  private void keep(String name, String value, int seconds) {
    boolean secure = http.req().isSecure(); // honours trusted proxies
    http.cookie(new Cookie(name, value, PATH, seconds, secure, true, null, SameSite.STRICT));
  }
}
