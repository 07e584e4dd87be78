package dev.holdfast.server.http;

import dev.holdfast.loop.Loop;
import java.time.Duration;
import java.util.Collection;
import java.util.HashMap;
import java.util.Map;
import java.util.function.LongSupplier;
import java.util.function.Supplier;
import org.eclipse.jetty.io.Connection;
import org.eclipse.jetty.io.EndPoint;
import org.eclipse.jetty.io.ssl.SslConnection;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Closes connections whose client sends a request a few bytes at a time, for ever: each byte comes
 * early enough to keep the connection from being idle. A connection on which nothing arrives,
 * because its client waits for an answer or has no request to send, is left alone.
 */
final class Dawdlers implements Loop.Step {

  private static final Logger log = LoggerFactory.getLogger(Dawdlers.class);

  private static final int LOOKS = 6; // within the time limit
  private static final long LEAST_PER_SECOND = 1_024;
  private static final double NANOS = 1e9;

  /** The counts of a connection when its request began to arrive, or when it was last judged. */
  private record Seen(long requests, long bytes, long sinceNanos) {}

  private final Supplier<Collection<EndPoint>> connections;
  private final LongSupplier nanoTime;
  private final Duration longest;
  private Map<EndPoint, Seen> before = new HashMap<>();

  Dawdlers(Supplier<Collection<EndPoint>> connections, LongSupplier nanoTime, Duration longest) {
    this.connections = connections;
    this.nanoTime = nanoTime;
    this.longest = longest;
  }

  @Override
  public Duration runOnce() {
    Map<EndPoint, Seen> now = new HashMap<>();
    for (EndPoint end : connections.get()) {
      Connection connection = plain(end.getConnection());
      if (connection == null) {
        continue; // it has only just been accepted
      }
      Seen seen = look(connection, before.get(end));
      boolean judged = seconds(seen) >= longest.toSeconds();
      // Judged by the last period only: otherwise a client that sends much at first could take
      // hours for the rest.
      now.put(end, judged ? seen(connection) : seen);
      if (judged && isDawdling(connection, seen)) {
        log.debug("{} has sent one request for too long", end.getRemoteSocketAddress());
        end.close();
      }
    }
    before = now;
    return longest.dividedBy(LOOKS);
  }

  private Seen look(Connection connection, @Nullable Seen last) {
    long bytes = connection.getBytesIn();
    if (last != null && last.requests == connection.getMessagesIn() && bytes > last.bytes) {
      return last; // the same request is still arriving
    }
    return seen(connection);
  }

  private Seen seen(Connection connection) {
    return new Seen(connection.getMessagesIn(), connection.getBytesIn(), nanoTime.getAsLong());
  }

  private double seconds(Seen seen) {
    return (nanoTime.getAsLong() - seen.sinceNanos) / NANOS;
  }

  private boolean isDawdling(Connection connection, Seen seen) {
    long bytes = connection.getBytesIn() - seen.bytes;
    return bytes > 0 && bytes < seconds(seen) * LEAST_PER_SECOND;
  }

  private static @Nullable Connection plain(@Nullable Connection connection) {
    return connection instanceof SslConnection tls
        ? tls.getSslEndPoint().getConnection()
        : connection;
  }
}
