package dev.holdfast.chaos.ledger;

import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.ByteBuffer;
import java.nio.channels.SelectionKey;
import java.nio.channels.Selector;
import java.nio.channels.ServerSocketChannel;
import java.nio.channels.SocketChannel;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;

/**
 * The outside world that jobs act upon, as a process of its own. It knows nothing of Holdfast: its
 * classpath has the compiled tests, and none of the product's code. It does what {@code
 * JobContext.fence} asks of a protected resource, which is to remember the largest fence it has
 * seen and to refuse smaller ones, and it writes down everything it is told, in order, with the
 * time and its answer ({@link Book}).
 *
 * <p>One request a line, one answer a line. One thread hears all, and of those who speak at once it
 * hears first who has hung up: a process that was killed is gone before anybody can know of it and
 * take its place, and here it must not look otherwise.
 */
public final class Ledger {

  /** One connection. */
  private static final class Line {
    private final SocketChannel channel;
    private final StringBuilder heard = new StringBuilder();
    private String who = "?";
    private boolean over;

    private Line(SocketChannel channel) {
      this.channel = channel;
    }
  }

  private final ServerSocketChannel server;
  private final Selector selector;
  private final Book book;
  private final ByteBuffer bytes = ByteBuffer.allocate(16_384);

  private Ledger(ServerSocketChannel server, Book book) throws IOException {
    this.server = server;
    this.book = book;
    this.selector = Selector.open();
    server.configureBlocking(false);
    server.register(selector, SelectionKey.OP_ACCEPT);
  }

  /** Serves until its standard input ends, as it does when whoever started it is gone. */
  public static void main(String[] args) throws IOException {
    ServerSocketChannel server = ServerSocketChannel.open();
    server.bind(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 200);
    Ledger ledger = new Ledger(server, new Book(Path.of(args[0])));
    Thread.ofPlatform().daemon().start(Ledger::endWithWhoStartedUs);
    System.out.println(server.socket().getLocalPort());
    while (true) {
      ledger.hear();
    }
  }

  private static void endWithWhoStartedUs() {
    try {
      while (System.in.read() >= 0) {
        // nothing is ever sent
      }
    } catch (IOException e) {
      // Then it is over, too.
    }
    System.exit(0);
  }

  private void hear() throws IOException {
    selector.select();
    List<Line> lines = new ArrayList<>();
    for (SelectionKey key : selector.selectedKeys()) {
      if (key.isAcceptable()) {
        accept();
      } else if (key.attachment() instanceof Line line) {
        read(line);
        lines.add(line);
      }
    }
    selector.selectedKeys().clear();
    for (Line line : lines) {
      if (line.over) {
        answer(line);
        book.record(line.who, "gone");
        line.channel.close();
      }
    }
    for (Line line : lines) {
      if (!line.over) {
        answer(line);
      }
    }
  }

  private void accept() throws IOException {
    SocketChannel channel = server.accept();
    if (channel != null) {
      channel.configureBlocking(false);
      channel.socket().setTcpNoDelay(true);
      channel.register(selector, SelectionKey.OP_READ, new Line(channel));
    }
  }

  private void read(Line line) {
    try {
      int read;
      do { // to the end, because that is what has to be known
        bytes.clear();
        read = line.channel.read(bytes);
        bytes.flip();
        line.heard.append(StandardCharsets.UTF_8.decode(bytes));
      } while (read > 0);
      line.over = read < 0;
    } catch (IOException e) {
      line.over = true; // a killed process resets its connection
    }
  }

  private void answer(Line line) {
    for (int end = line.heard.indexOf("\n"); end >= 0; end = line.heard.indexOf("\n")) {
      String said = line.heard.substring(0, end);
      line.heard.delete(0, end + 1);
      if (said.startsWith("hello ")) {
        line.who = said.substring("hello ".length());
      }
      String answer = book.record(line.who, said) + "\n";
      try {
        // Whoever asks waits for the answer, so there is always room for it.
        line.channel.write(ByteBuffer.wrap(answer.getBytes(StandardCharsets.UTF_8)));
      } catch (IOException e) {
        // Hung up meanwhile; that is heard next.
      }
    }
  }
}
