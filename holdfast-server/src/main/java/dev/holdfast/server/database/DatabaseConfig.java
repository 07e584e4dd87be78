package dev.holdfast.server.database;

import dev.holdfast.error.HoldfastException;
import java.util.Optional;

/**
 * The database of a node, and how the node connects to it.
 *
 * @param poolSize the most connections the node may have
 * @param login empty where the URL contains it
 * @param listenUrl the address through which notifications arrive, if they do not through the first
 *     URL
 */
public record DatabaseConfig(
    String jdbcUrl, int poolSize, Optional<Login> login, Optional<String> listenUrl) {

  /**
   * The size of the reserved pool: two connections for heartbeats over HTTP, one to listen, one for
   * the heartbeats of each of the node's own workers, and one to spare.
   */
  static final int RESERVED = 6;

  private static final int LEAST = 2 * RESERVED;
  private static final int MOST = 1_000;

  /** The user and password for the database. */
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
