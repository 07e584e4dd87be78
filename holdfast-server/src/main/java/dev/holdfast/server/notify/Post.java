package dev.holdfast.server.notify;

import static java.nio.charset.StandardCharsets.ISO_8859_1;
import static java.nio.charset.StandardCharsets.UTF_8;

import java.io.BufferedInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.Socket;
import java.net.SocketTimeoutException;
import java.net.URI;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import javax.net.ssl.SSLParameters;
import javax.net.ssl.SSLSocket;
import javax.net.ssl.SSLSocketFactory;

/**
 * Sends one message over one connection, to an address that was looked up and checked before. A
 * client that takes names would look the name up again, and might get another address than the one
 * that was checked. Redirects are not followed, and of the answer only the status matters.
 */
final class Post {

  private static final int LONGEST_LINE = 8 * 1024;
  private static final int MOST_LINES = 200;
  private static final int MOST_BODY = 64 * 1024;

  private final URI url;
  private final List<InetAddress> addresses;
  private final long untilNanos;

  Post(URI url, List<InetAddress> addresses, Duration patience) {
    this.url = URI.create(url.toASCIIString());
    this.addresses = addresses;
    this.untilNanos = System.nanoTime() + patience.toNanos();
  }

  /** Sends the message, and returns the status of the answer. */
  int send(Map<String, String> headers, String json) throws IOException {
    byte[] body = json.getBytes(UTF_8);
    StringBuilder head = new StringBuilder("POST ").append(target()).append(" HTTP/1.1\r\n");
    head.append("Host: ").append(url.getHost());
    head.append(url.getPort() < 0 ? "" : ":" + url.getPort()).append("\r\n");
    headers.forEach((name, value) -> head.append(name).append(": ").append(value).append("\r\n"));
    head.append("Content-Type: application/json\r\nContent-Length: ").append(body.length);
    head.append("\r\nConnection: close\r\n\r\n");
    try (Socket socket = connect()) {
      OutputStream out = socket.getOutputStream();
      out.write(head.toString().getBytes(UTF_8));
      out.write(body);
      out.flush();
      InputStream in = new BufferedInputStream(socket.getInputStream());
      int status = status(socket, in);
      drain(socket, in);
      return status;
    }
  }

  private String target() {
    String path = url.getRawPath().isEmpty() ? "/" : url.getRawPath();
    return url.getRawQuery() == null ? path : path + "?" + url.getRawQuery();
  }

  private Socket connect() throws IOException {
    IOException last = new IOException("no address");
    for (InetAddress address : addresses) {
      Socket socket = new Socket();
      try {
        socket.connect(new InetSocketAddress(address, port()), millisLeft());
        socket.setSoTimeout(millisLeft());
        return isTls() ? secured(socket) : socket;
      } catch (IOException e) {
        socket.close();
        last = e;
      }
    }
    throw last;
  }

  private boolean isTls() {
    return url.getScheme().equals("https");
  }

  private int port() {
    int usual = isTls() ? 443 : 80;
    return url.getPort() < 0 ? usual : url.getPort();
  }

  // The certificate must be for the name in the URL, whatever address it has.
  private Socket secured(Socket plain) throws IOException {
    SSLSocketFactory sockets = (SSLSocketFactory) SSLSocketFactory.getDefault();
    String name = url.getHost().replaceAll("[\\[\\]]", "");
    SSLSocket socket = (SSLSocket) sockets.createSocket(plain, name, port(), true);
    SSLParameters parameters = socket.getSSLParameters();
    parameters.setEndpointIdentificationAlgorithm("HTTPS");
    socket.setSSLParameters(parameters);
    socket.startHandshake();
    return socket;
  }

  private int status(Socket socket, InputStream in) throws IOException {
    int status = statusIn(line(socket, in));
    while (status / 100 == 1) { // an interim answer
      for (int lines = 0; !line(socket, in).isEmpty(); lines++) {
        if (lines > MOST_LINES) {
          throw new IOException("there is no end to its headers");
        }
      }
      status = statusIn(line(socket, in));
    }
    return status;
  }

  private static int statusIn(String line) throws IOException {
    if (!line.matches("HTTP/1\\.[01] [1-5][0-9][0-9]( .*)?")) {
      throw new IOException("not an answer of HTTP/1.1");
    }
    return Integer.parseInt(line.substring(9, 12));
  }

  private String line(Socket socket, InputStream in) throws IOException {
    byte[] line = new byte[LONGEST_LINE];
    for (int length = 0; length < LONGEST_LINE; length++) {
      socket.setSoTimeout(millisLeft()); // what is left for the whole answer, which may drip
      int next = in.read();
      if (next < 0) {
        throw new IOException("it hung up");
      }
      if (next == '\n') {
        return new String(line, 0, length, ISO_8859_1).stripTrailing();
      }
      line[length] = (byte) next;
    }
    throw new IOException("a line too long");
  }

  // A receiver that is still writing when we close the connection would take it for a failure.
  private void drain(Socket socket, InputStream in) {
    byte[] bytes = new byte[LONGEST_LINE];
    try {
      int read = 0;
      for (int total = 0; read >= 0 && total < MOST_BODY; total += read) {
        socket.setSoTimeout(millisLeft());
        read = in.read(bytes);
      }
    } catch (IOException e) {
      return; // the answer's status is known all the same
    }
  }

  private int millisLeft() throws SocketTimeoutException {
    long left = (untilNanos - System.nanoTime()) / 1_000_000;
    if (left <= 0) {
      throw new SocketTimeoutException("it took too long");
    }
    return (int) left;
  }
}
