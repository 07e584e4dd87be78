package dev.holdfast.api;

import dev.holdfast.error.HoldfastException;

/**
 * Which API a client was made for, said with every request of ours. A number changes only when
 * something that worked no longer does; a server knows the one before its own, too, so that it can
 * be upgraded before its workers. Who says none, like a worker of another language, is taken as it
 * is.
 */
public final class ApiVersion {

  public static final String HEADER = "X-Holdfast-Api";

  public static final int CURRENT = 1;

  /** The oldest that is still served. */
  public static final int OLDEST = 1;

  private ApiVersion() {}

  /** Refuses a client that was made for another API, and says who has to be upgraded. */
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
