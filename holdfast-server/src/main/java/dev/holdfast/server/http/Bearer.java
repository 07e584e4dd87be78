package dev.holdfast.server.http;

import io.javalin.http.Context;
import java.util.Optional;

/** Reads the token of a request. */
public final class Bearer {

  private static final String SCHEME = "bearer ";

  private Bearer() {}

  /** Empty where the header has another scheme, which a proxy may have added. */
  public static Optional<String> of(Context http) {
    return Optional.ofNullable(http.header("Authorization"))
        .filter(header -> header.regionMatches(true, 0, SCHEME, 0, SCHEME.length()))
        .map(header -> header.substring(SCHEME.length()).strip());
  }
}
