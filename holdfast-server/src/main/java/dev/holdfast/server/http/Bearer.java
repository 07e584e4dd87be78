package dev.holdfast.server.http;

import io.javalin.http.Context;
import java.util.Optional;

/** The token that a request shows. */
public final class Bearer {

  private static final String SCHEME = "bearer ";

  private Bearer() {}

  /** Empty where the header says something else: a proxy may have added that. */
  public static Optional<String> of(Context http) {
    return Optional.ofNullable(http.header("Authorization"))
        .filter(header -> header.regionMatches(true, 0, SCHEME, 0, SCHEME.length()))
        .map(header -> header.substring(SCHEME.length()).strip());
  }
}
