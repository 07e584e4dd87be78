package dev.holdfast.server;

import static java.nio.charset.StandardCharsets.UTF_8;

import java.io.DataInputStream;
import java.io.IOException;
import java.net.InetAddress;
import java.net.Socket;
import java.net.SocketException;
import java.net.SocketTimeoutException;
import java.util.Map;

/** A connection by hand, for what a client would not do. */
final class RawHttp implements AutoCloseable {

  private final Socket socket;
  private final DataInputStream in;
  private final String headers;

  private RawHttp(Socket socket, String headers) throws IOException {
    this.socket = socket;
    this.in = new DataInputStream(socket.getInputStream());
    this.headers = headers;
  }

  static RawHttp to(Caller caller) throws IOException {
    StringBuilder headers = new StringBuilder("Host: localhost\r\n");
    caller
        .token()
        .ifPresent(token -> headers.append("Authorization: Bearer ").append(token).append("\r\n"));
    caller
        .tenant()
        .ifPresent(name -> headers.append("X-Holdfast-Tenant: ").append(name).append("\r\n"));
    return new RawHttp(
        new Socket(InetAddress.getLoopbackAddress(), caller.port()), headers.toString());
  }

  /** The same with more headers. */
  static RawHttp to(Caller caller, Map<String, String> more) throws IOException {
    StringBuilder headers = new StringBuilder();
    more.forEach((name, value) -> headers.append(name + ": " + value + "\r\n"));
    RawHttp plain = to(caller);
    return new RawHttp(plain.socket, plain.headers + headers);
  }

  void get(String path) throws IOException {
    write("GET " + path + " HTTP/1.1\r\n" + headers + "\r\n");
  }

  void post(String path, String json) throws IOException {
    post(path, json.getBytes(UTF_8), json.getBytes(UTF_8).length, "application/json");
  }

  void post(String path, byte[] body, int saidLength, String type) throws IOException {
    write("POST " + path + " HTTP/1.1\r\n" + headers);
    write("Content-Type: " + type + "\r\nContent-Length: " + saidLength + "\r\n\r\n");
    socket.getOutputStream().write(body);
    socket.getOutputStream().flush();
  }

  /** Waits until an answer begins to come. */
  void awaitFirstByte() throws IOException {
    in.readUnsignedByte();
  }

  /** Hangs up without having read what was sent, as a machine does that is gone. */
  void cut() throws IOException {
    socket.setSoLinger(true, 0);
    socket.close();
  }

  /** Whether the server has ended the connection, without an answer. */
  boolean isHungUpOn() throws IOException {
    socket.setSoTimeout(1);
    try {
      return in.read() < 0;
    } catch (SocketTimeoutException e) {
      return false;
    } catch (SocketException e) {
      return true;
    }
  }

  /** Says no more. */
  void end() throws IOException {
    socket.shutdownOutput();
  }

  private void write(String text) throws IOException {
    socket.getOutputStream().write(text.getBytes(UTF_8));
  }

  /** Headers and body of the next answer. */
  String answer() throws IOException {
    StringBuilder head = new StringBuilder();
    while (head.indexOf("\r\n\r\n") < 0) {
      head.append((char) in.readUnsignedByte());
    }
    String length =
        head.toString()
            .lines()
            .filter(line -> line.regionMatches(true, 0, "Content-Length:", 0, 15))
            .findFirst()
            .orElse("Content-Length: 0");
    byte[] body = in.readNBytes(Integer.parseInt(length.substring(15).strip()));
    return head + new String(body, UTF_8);
  }

  @Override
  public void close() throws IOException {
    socket.close();
  }
}
