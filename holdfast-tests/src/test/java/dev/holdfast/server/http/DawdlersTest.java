package dev.holdfast.server.http;

import static java.nio.charset.StandardCharsets.US_ASCII;
import static org.assertj.core.api.Assertions.assertThat;

import java.net.InetAddress;
import java.net.Socket;
import java.nio.ByteBuffer;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import org.eclipse.jetty.io.Connection;
import org.eclipse.jetty.io.Content;
import org.eclipse.jetty.io.EndPoint;
import org.eclipse.jetty.server.Handler;
import org.eclipse.jetty.server.Request;
import org.eclipse.jetty.server.Response;
import org.eclipse.jetty.server.Server;
import org.eclipse.jetty.server.ServerConnector;
import org.eclipse.jetty.util.Callback;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Who sends a request byte by byte is hung up on; who waits or has nothing to say is not. */
@Timeout(60)
class DawdlersTest {

  private final AtomicLong nanos = new AtomicLong(1);
  private final Semaphore asked = new Semaphore(0);
  private final CountDownLatch over = new CountDownLatch(1);
  private final Server server = new Server();
  private final ServerConnector connector = new ServerConnector(server);
  private Dawdlers dawdlers;

  @BeforeEach
  void start() throws Exception {
    connector.setHost("127.0.0.1");
    server.addConnector(connector);
    server.setHandler(
        new Handler.Abstract() {
          @Override
          public boolean handle(Request request, Response response, Callback callback)
              throws Exception {
            asked.release();
            switch (request.getHttpURI().getPath()) {
              case "/wait" -> over.await();
              case "/read" -> {
                Content.Source.consumeAll(request, callback);
                return true;
              }
              default -> {}
            }
            response.write(true, ByteBuffer.allocate(0), callback);
            return true;
          }
        });
    server.start();
    dawdlers =
        new Dawdlers(
            () -> List.copyOf(connector.getConnectedEndPoints()),
            nanos::get,
            Duration.ofSeconds(60));
  }

  @AfterEach
  void stop() throws Exception {
    over.countDown();
    server.stop();
  }

  @Test
  void headers_that_come_byte_by_byte_come_to_an_end() throws Exception {
    try (Socket socket = connect()) {
      send(socket, "GET / HTTP/1.1\r\nHost: ");
      look(1);
      for (int i = 0; i < 6; i++) {
        send(socket, "a");
        look(10);
      }

      assertThat(socket.getInputStream().read()).isEqualTo(-1);
    }
  }

  @Test
  void a_second_request_that_comes_byte_by_byte_comes_to_an_end() throws Exception {
    try (Socket socket = connect()) {
      send(socket, "GET / HTTP/1.1\r\nHost: a\r\n\r\n");
      asked.acquire();
      look(1);
      for (int i = 0; i < 6; i++) {
        send(socket, "G");
        look(10);
      }

      byte[] all = socket.getInputStream().readAllBytes(); // the answer, and then the end
      assertThat(new String(all, US_ASCII)).startsWith("HTTP/1.1 200");
    }
  }

  @Test
  void who_sends_much_at_first_may_not_take_hours_over_the_rest() throws Exception {
    try (Socket socket = connect()) {
      send(socket, "POST /read HTTP/1.1\r\nHost: a\r\nContent-Length: 2000000\r\n\r\n");
      asked.acquire();
      look(1);
      send(socket, "a".repeat(500_000));
      for (int i = 0; i < 12; i++) {
        send(socket, "a");
        look(10);
      }

      assertThat(socket.getInputStream().read()).isEqualTo(-1);
    }
  }

  @Test
  void who_waits_for_an_answer_or_says_nothing_is_left_alone() throws Exception {
    try (Socket waits = connect();
        Socket idle = connect()) {
      send(waits, "GET /wait HTTP/1.1\r\nHost: a\r\n\r\n");
      send(idle, "GET / HTTP/1.1\r\nHost: a\r\n\r\n");
      asked.acquire(2);
      for (int i = 0; i < 60; i++) {
        look(10);
      }
      assertThat(connector.getConnectedEndPoints()).hasSize(2).allMatch(EndPoint::isOpen);
    }
  }

  private Socket connect() throws Exception {
    return new Socket(InetAddress.getLoopbackAddress(), connector.getLocalPort());
  }

  /** And waits until the server has read it. */
  private void send(Socket socket, String text) throws Exception {
    long before = bytesIn();
    socket.getOutputStream().write(text.getBytes(US_ASCII));
    while (bytesIn() < before + text.length()) {
      assertThat(Thread.currentThread().isInterrupted()).as("in time").isFalse();
      Thread.onSpinWait();
    }
  }

  private long bytesIn() {
    return connector.getConnectedEndPoints().stream()
        .map(EndPoint::getConnection)
        .filter(connection -> connection != null)
        .mapToLong(Connection::getBytesIn)
        .sum();
  }

  private void look(int seconds) {
    nanos.addAndGet(TimeUnit.SECONDS.toNanos(seconds));
    dawdlers.runOnce();
  }
}
