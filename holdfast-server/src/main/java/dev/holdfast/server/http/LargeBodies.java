package dev.holdfast.server.http;

import dev.holdfast.server.auth.FairLimit;
import io.javalin.http.Context;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import org.eclipse.jetty.io.Connection;
import org.eclipse.jetty.io.EndPoint;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Reads large bodies of callers whom nobody knows yet, a few at a time, because each is in memory
 * until it is judged. Whoever sends slowly while others wait for their turn is hung up on:
 * otherwise a few strangers who send byte by byte would keep everybody else out. Thread-safe.
 */
public final class LargeBodies {

  private static final Logger log = LoggerFactory.getLogger(LargeBodies.class);

  private static final int AT_ONCE = 8;
  private static final long LEAST_PER_SECOND = 64 * 1024;

  private final FairLimit turns = new FairLimit(AT_ONCE);

  /** The body of a request, when it is its turn. */
  public byte[] read(Context http) {
    return turns.take(() -> {
      CountDownLatch read = new CountDownLatch(1);
      Connection connection = ClientConnection.of(http); // the watcher may outlast the request
      Thread.ofVirtual().name("holdfast-large-body").start(() -> watch(connection, read));
      try {
        return http.bodyAsBytes();
      } finally {
        read.countDown();
      }
    });
  }

  private void watch(Connection connection, CountDownLatch read) {
    try {
      long before = connection.getBytesIn();
      while (!read.await(1, TimeUnit.SECONDS)) {
        long now = connection.getBytesIn();
        if (now - before < LEAST_PER_SECOND && turns.isWaitedFor()) {
          EndPoint end = connection.getEndPoint();
          log.debug("{} makes way for those who wait", end.getRemoteSocketAddress());
          end.close();
          return;
        }
        before = now;
      }
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt(); // nobody does that
    }
  }
}
