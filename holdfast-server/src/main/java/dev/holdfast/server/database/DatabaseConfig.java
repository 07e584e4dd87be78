package dev.holdfast.server.database;

import dev.holdfast.error.HoldfastException;
import java.util.Optional;

/**
 * The database that a node stands on.
 *
 * @param poolSize connections that it may have, at most
 * @param login empty where the URL says it
 * @param listenUrl where notifications get through, when they do not by the first URL
 */
public record DatabaseConfig(
    String jdbcUrl, int poolSize, Optional<Login> login, Optional<String> listenUrl) {

  /**
   * Set aside of the pool: two for beats that come over HTTP, one to listen, one for the beats of
   * each worker of the node's own, and one to spare.
   */
  static final int RESERVED = 6;

  private static final int LEAST = 2 * RESERVED;
  private static final int MOST = 1_000;

  /** Who logs in. */
  public record Login(String user, String password) {

    @Override
    public String toString() {
      return user; // never the password
    }
  }

  public DatabaseConfig {
    if (poolSize < LEAST || poolSize > MOST) {
      throw HoldfastException.badConfig("--pool-size", poolSize, LEAST + " to " + MOST);
    }
  }

  public DatabaseConfig(String jdbcUrl, int poolSize) {
    this(jdbcUrl, poolSize, Optional.empty(), Optional.empty());
  }

  public DatabaseConfig withLogin(String user, String password) {
    return new DatabaseConfig(jdbcUrl, poolSize, Optional.of(new Login(user, password)), listenUrl);
  }

  public DatabaseConfig withListenUrl(String url) {
    return new DatabaseConfig(jdbcUrl, poolSize, login, Optional.of(url));
  }
}
