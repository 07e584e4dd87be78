package dev.holdfast.server.notify;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.sun.net.httpserver.HttpServer;
import java.io.IOException;
import java.io.InputStream;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.net.SocketTimeoutException;
import java.net.URI;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.atomic.AtomicInteger;
import javax.net.ssl.SSLException;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** A message goes to the address that was judged, whatever its name leads to by then. */
class PinnedDeliveryTest {

  private static final InetAddress HERE = InetAddress.getLoopbackAddress();
  private static final Duration PATIENCE = Duration.ofSeconds(10);

  @Test
  void the_address_that_was_judged_is_the_one_that_is_called() throws Exception {
    BlockingQueue<String> heard = new LinkedBlockingQueue<>();
    HttpServer receiver = HttpServer.create(new InetSocketAddress(HERE, 0), 0);
    receiver.createContext(
        "/hook",
        exchange -> {
          heard.add(
              exchange.getRequestMethod()
                  + " "
                  + exchange.getRequestURI()
                  + " "
                  + exchange.getRequestHeaders().getFirst("Host")
                  + " "
                  + exchange.getRequestHeaders().getFirst("X-A")
                  + " "
                  + new String(exchange.getRequestBody().readAllBytes(), UTF_8));
          exchange.sendResponseHeaders(202, -1);
          exchange.close();
        });
    receiver.start();
    AtomicInteger asked = new AtomicInteger();
    // The first answer is good; whoever asks again is sent elsewhere, as in a DNS rebinding.
    Receivers receivers =
        new Receivers(
            Set.of("127.0.0.0/8"),
            host ->
                new InetAddress[] {
                  asked.getAndIncrement() == 0 ? HERE : InetAddress.getByName("169.254.169.254")
                });
    int port = receiver.getAddress().getPort();
    URI url = URI.create("http://no-such-name.invalid:" + port + "/hook?a=%20b");
    try {
      List<InetAddress> judged = receivers.addressesOf(url.getHost()).orElseThrow();
      int status = new Post(url, judged, PATIENCE).send(Map.of("X-A", "b"), "{\"größe\": 1}");

      assertThat(status).isEqualTo(202);
    } finally {
      receiver.stop(0);
    }
    assertThat(asked).hasValue(1);
    assertThat(heard)
        .containsExactly("POST /hook?a=%20b no-such-name.invalid:" + port + " b {\"größe\": 1}");
  }

  @Test
  void a_redirect_is_an_answer_and_nothing_to_follow() throws Exception {
    assertThat(
            answered(
                String.join(
                    "\r\n",
                    "HTTP/1.1 302 Found",
                    "Location: http://169.254.169.254/",
                    "Content-Length: 0",
                    "",
                    "")))
        .isEqualTo(302);
  }

  @Test
  void what_comes_ahead_of_an_answer_is_not_the_answer() throws Exception {
    assertThat(answered("HTTP/1.1 103 Early Hints\r\nLink: </a>\r\n\r\nHTTP/1.1 204\r\n\r\n"))
        .isEqualTo(204);
  }

  @Test
  void what_is_no_answer_is_a_failure() {
    List<String> all =
        List.of("", "SSH-2.0-x\r\n", "HTTP/1.1 99 x\r\n\r\n", "HTTP/2 200\r\n", "x".repeat(99_999));
    for (String nonsense : all) {
      assertThatThrownBy(() -> answered(nonsense)).as(nonsense).isInstanceOf(IOException.class);
    }
  }

  @Test
  @Timeout(30)
  void whoever_drips_its_answer_is_not_waited_for_longer_than_others() throws Exception {
    try (ServerSocket listening = new ServerSocket(0, 1, HERE)) {
      Thread.ofVirtual()
          .start(() -> {
            try (Socket socket = listening.accept()) {
              while (socket.getInputStream().read() >= 0) { // a byte for each that it is sent
                socket.getOutputStream().write('H');
              }
            } catch (IOException e) {
              return; // it was left, as it deserves
            }
          });

      assertThatThrownBy(() -> post("http", listening, Duration.ofMillis(300)))
          .isInstanceOf(SocketTimeoutException.class);
    }
  }

  @Test
  void who_cannot_prove_its_name_is_told_nothing() throws Exception {
    try (ServerSocket listening = new ServerSocket(0, 1, HERE)) {
      Thread.ofVirtual()
          .start(() -> {
            try (Socket socket = listening.accept()) {
              socket.getOutputStream().write("HTTP/1.1 200 OK\r\n\r\n".getBytes(UTF_8));
              socket.getOutputStream().flush();
              socket.getInputStream().transferTo(java.io.OutputStream.nullOutputStream());
            } catch (IOException e) {
              return;
            }
          });

      assertThatThrownBy(() -> post("https", listening, PATIENCE)).isInstanceOf(SSLException.class);
    }
  }

  private static int answered(String answer) throws Exception {
    try (ServerSocket listening = new ServerSocket(0, 1, HERE)) {
      Thread.ofVirtual()
          .start(() -> {
            try (Socket socket = listening.accept()) {
              InputStream in = socket.getInputStream();
              StringBuilder read = new StringBuilder();
              while (!read.toString().endsWith("{}")) {
                read.append((char) in.read());
              }
              socket.getOutputStream().write(answer.getBytes(UTF_8));
              socket.shutdownOutput();
              in.transferTo(java.io.OutputStream.nullOutputStream());
            } catch (IOException e) {
              return;
            }
          });
      return post("http", listening, PATIENCE);
    }
  }

  private static int post(String scheme, ServerSocket to, Duration patience) throws IOException {
    URI url = URI.create(scheme + "://127.0.0.1:" + to.getLocalPort() + "/");
    return new Post(url, List.of(HERE), patience).send(Map.of(), "{}");
  }
}
