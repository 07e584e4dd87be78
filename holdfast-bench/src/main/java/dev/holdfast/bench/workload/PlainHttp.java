package dev.holdfast.bench.workload;

import static java.nio.charset.StandardCharsets.US_ASCII;
import static java.nio.charset.StandardCharsets.UTF_8;

import java.io.BufferedInputStream;
import java.io.EOFException;
import java.io.IOException;
import java.io.InputStream;
import java.net.InetAddress;
import java.net.Socket;
import java.util.Locale;

/**
 * One kept-alive connection that knows just enough HTTP/1.1 for load. Client and server share the
 * machine's cores, so that whatever a fuller client costs would be missing to what is measured.
 */
final class PlainHttp implements AutoCloseable {

  private final int port;
  private final Socket socket;
  private final InputStream in;

  /**
   * An answer.
   *
   * @param body empty where there is none
   */
  record Reply(int status, String body) {}

  PlainHttp(int port) throws IOException {
    this.port = port;
    socket = new Socket(InetAddress.getLoopbackAddress(), port);
    socket.setTcpNoDelay(true);
    in = new BufferedInputStream(socket.getInputStream());
  }

  Reply post(String path, String json) throws IOException {
    byte[] body = json.getBytes(UTF_8);
    byte[] head =
        """
        POST %s HTTP/1.1\r
        Host: 127.0.0.1:%d\r
        Content-Type: application/json\r
        Content-Length: %d\r
        \r
        """
            .formatted(path, port, body.length)
            .getBytes(US_ASCII);
    byte[] request = new byte[head.length + body.length];
    System.arraycopy(head, 0, request, 0, head.length);
    System.arraycopy(body, 0, request, head.length, body.length);
    socket.getOutputStream().write(request);
    return answer();
  }

  private Reply answer() throws IOException {
    int status = Integer.parseInt(line().substring("HTTP/1.1 ".length()).substring(0, 3));
    int length = 0;
    for (String header = line(); !header.isEmpty(); header = line()) {
      String lower = header.toLowerCase(Locale.ROOT);
      if (lower.startsWith("content-length:")) {
        length = Integer.parseInt(lower.substring("content-length:".length()).strip());
      } else if (lower.startsWith("transfer-encoding:")) {
        throw new IOException("an answer in pieces, which this client cannot read");
      }
    }
    return new Reply(status, new String(in.readNBytes(length), UTF_8));
  }

  private String line() throws IOException {
    StringBuilder line = new StringBuilder();
    for (int next = in.read(); next != '\n'; next = in.read()) {
      if (next < 0) {
        throw new EOFException("the server hung up");
      }
      if (next != '\r') {
        line.append((char) next);
      }
    }
    return line.toString();
  }

  @Override
  public void close() throws IOException {
    socket.close();
  }
}
