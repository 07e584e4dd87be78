package dev.holdfast.soak;

import com.zaxxer.hikari.HikariConfig;
import com.zaxxer.hikari.HikariDataSource;
import java.io.IOException;

/** What all processes of the soak have in common. */
final class Standing {

  private Standing() {}

  static HikariDataSource pool(String jdbcUrl, int connections) {
    HikariConfig config = new HikariConfig();
    config.setJdbcUrl(jdbcUrl);
    config.setMaximumPoolSize(connections);
    return new HikariDataSource(config);
  }

  /**
   * Goes on until it is terminated, or its standard input ends: whoever started it is gone.
   *
   * @param port where its work can be reached, if anywhere
   */
  static void goOn(int port, AutoCloseable work) throws IOException {
    int heap = HeapTeller.start();
    Runtime.getRuntime()
        .addShutdownHook(
            new Thread(() -> {
              try {
                work.close();
              } catch (Exception e) {
                throw new IllegalStateException(e);
              }
            }));
    System.out.println(port + " " + heap);
    while (System.in.read() >= 0) {
      // nothing is ever sent
    }
    Runtime.getRuntime().halt(1);
  }
}
