package dev.holdfast.api;

import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.io.UncheckedIOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.util.concurrent.atomic.AtomicInteger;

/**
 * Stands between a client and a server, and loses answers when told to: the server has done what
 * was asked, and nobody hears of it.
 */
final class LossyProxy implements AutoCloseable {

  private final int port;
  private final ServerSocket listening;
  private final AtomicInteger toLose = new AtomicInteger();
  private final AtomicInteger lost = new AtomicInteger();

  LossyProxy(int port) throws IOException {
    this.port = port;
    this.listening = new ServerSocket(0, 50, InetAddress.getLoopbackAddress());
    Thread.ofVirtual().start(this::accept);
  }

  String url() {
    return "http://127.0.0.1:" + listening.getLocalPort();
  }

  void lose(int answers) {
    toLose.set(answers);
  }

  int lost() {
    return lost.get();
  }

  private void accept() {
    while (!listening.isClosed()) {
      try {
        Socket client = listening.accept();
        Socket server = new Socket(InetAddress.getLoopbackAddress(), port);
        Thread.ofVirtual().start(() -> pass(client, server, false));
        Thread.ofVirtual().start(() -> pass(server, client, true));
      } catch (IOException e) {
        if (!listening.isClosed()) {
          throw new UncheckedIOException(e);
        }
      }
    }
  }

  private void pass(Socket from, Socket to, boolean answers) {
    byte[] some = new byte[8_192];
    try (from;
        to) {
      InputStream in = from.getInputStream();
      OutputStream out = to.getOutputStream();
      for (int read = in.read(some); read >= 0; read = in.read(some)) {
        if (answers && toLose.getAndUpdate(left -> Math.max(0, left - 1)) > 0) {
          lost.incrementAndGet();
          return; // and both ends are closed
        }
        out.write(some, 0, read);
      }
    } catch (IOException e) {
      // One side hung up; so does the other.
    }
  }

  @Override
  public void close() throws IOException {
    listening.close();
  }
}
