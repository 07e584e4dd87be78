package dev.holdfast.api;

import dev.holdfast.error.HoldfastException;

/**
 * The version of the API that a client was made for; Holdfast's own clients send it with every
 * request. It changes only when something that worked no longer does. A server also accepts the
 * version before its own, so that it can be upgraded before its workers. A client that sends none,
 * like a worker in another language, is accepted.
 */
public final class ApiVersion {

  public static final String HEADER = "X-Holdfast-Api";

  public static final int CURRENT = 1;

  /** The oldest version that is still served. */
  public static final int OLDEST = 1;

  private ApiVersion() {}

  /**
   * Throws for a client that was made for another version; the message says which side must be
   * upgraded.
   */
  public static void check(String said) {
    int version;
    try {
      version = Integer.parseInt(said.strip());
    } catch (NumberFormatException e) {
      throw refused(said, "a number");
    }
    if (version > CURRENT) {
      throw refused(said, "upgrade the server first, then its clients");
    }
    if (version < OLDEST) {
      throw refused(said, "upgrade the client");
    }
  }

  private static HoldfastException refused(String said, String remedy) {
    return HoldfastException.invalid(
        HEADER, said, "%d to %d; %s".formatted(OLDEST, CURRENT, remedy));
  }
}
