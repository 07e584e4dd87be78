package dev.holdfast.rig;

import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.io.UncheckedIOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.nio.charset.StandardCharsets;
import java.util.Optional;
import java.util.Queue;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicInteger;

/**
 * What stands between processes and those they talk to. Cuts connections when told to, or loses
 * answers: what was asked for is done, and nobody hears of it. Or holds everything back for as long
 * as it is told to, and nobody hears of that either. Those they talk to may come back elsewhere.
 * Thread-safe.
 */
public final class Cable implements AutoCloseable {

  /** An answer that is to be lost, by what the question and the answer have in them. */
  private record Wish(String question, String answer, Runnable granted, Set<Line> asked) {}

  /** One connection: both its ends. */
  private static final class Line {
    private final Socket near;
    private final Socket far;
    private volatile CountDownLatch held;

    Line(Socket near, Socket far, boolean held) {
      this.near = near;
      this.far = far;
      this.held = new CountDownLatch(held ? 1 : 0);
    }

    void cut() {
      for (Socket end : new Socket[] {near, far}) {
        try {
          end.setSoLinger(true, 0); // a reset, as when a machine is gone
          end.close();
        } catch (IOException e) {
          // It was closed already.
        }
      }
    }
  }

  private volatile int to;
  private volatile boolean unplugged;
  private final ServerSocket listening;
  private final Set<Line> lines = ConcurrentHashMap.newKeySet();
  private final AtomicInteger cut = new AtomicInteger();
  private final AtomicInteger toLose = new AtomicInteger();
  private final AtomicInteger lost = new AtomicInteger();
  private final Queue<Wish> wishes = new ConcurrentLinkedQueue<>();

  public Cable(int to) throws IOException {
    this.to = to;
    this.listening = new ServerSocket(0, 200, InetAddress.getLoopbackAddress());
    Thread.ofPlatform().daemon().start(this::accept);
  }

  /** New connections lead there from now on. */
  public void leadTo(int port) {
    to = port;
  }

  /** Where to connect instead. */
  public int port() {
    return listening.getLocalPort();
  }

  public String url() {
    return "http://127.0.0.1:" + port();
  }

  /** Cuts all connections that there are. */
  public void cut() {
    lines.forEach(line -> {
      line.cut();
      cut.incrementAndGet();
    });
  }

  /** Nothing gets through any more on the connections that there are, and none is closed. */
  public void hold() {
    lines.forEach(line -> line.held = new CountDownLatch(1));
  }

  /** The same, and connections that are made from now on get nothing through either. */
  public void unplug() {
    unplugged = true;
    hold();
  }

  /** What was held back arrives, late. */
  public void release() {
    unplugged = false;
    lines.forEach(line -> line.held.countDown());
  }

  /** As many answers, from now on, never arrive; what was asked for is done. */
  public void lose(int answers) {
    toLose.set(answers);
  }

  /** One answer for each connection that there is. */
  public void loseAnswers() {
    lose(lines.size());
  }

  /**
   * The next answer that has this in it, to a question that has that in it, never arrives. Both
   * have to be within what is sent at once, as small ones are.
   *
   * @param lost told when that has happened
   */
  public void loseNext(String question, String answer, Runnable lost) {
    wishes.add(new Wish(question, answer, lost, ConcurrentHashMap.newKeySet()));
  }

  public int connectionsCut() {
    return cut.get();
  }

  public int answersLost() {
    return lost.get();
  }

  private void accept() {
    while (!listening.isClosed()) {
      try {
        connect(listening.accept());
      } catch (IOException e) {
        if (!listening.isClosed()) {
          throw new UncheckedIOException(e);
        }
      }
    }
  }

  private void connect(Socket near) throws IOException {
    Socket far;
    try {
      far = new Socket(InetAddress.getLoopbackAddress(), to);
    } catch (IOException e) {
      near.close(); // nobody is there
      return;
    }
    near.setTcpNoDelay(true);
    far.setTcpNoDelay(true);
    Line line = new Line(near, far, unplugged);
    lines.add(line);
    Thread.ofVirtual().start(() -> pass(line, near, far, false));
    Thread.ofVirtual().start(() -> pass(line, far, near, true));
  }

  private void pass(Line line, Socket from, Socket into, boolean answers) {
    byte[] some = new byte[16_384];
    try {
      InputStream in = from.getInputStream();
      OutputStream out = into.getOutputStream();
      for (int read = in.read(some); read >= 0; read = in.read(some)) {
        if (answers && toLose.getAndUpdate(left -> Math.max(0, left - 1)) > 0) {
          lost.incrementAndGet();
          break;
        }
        if (!wishes.isEmpty()) {
          String said = new String(some, 0, read, StandardCharsets.ISO_8859_1);
          if (!answers) {
            hear(line, said);
          } else if (isWishedAway(line, said)) {
            break;
          }
        }
        line.held.await();
        out.write(some, 0, read);
      }
    } catch (InterruptedException | IOException e) {
      // One side hung up; so does the other.
    }
    lines.remove(line);
    line.cut();
  }

  private boolean isWishedAway(Line line, String said) {
    Optional<Wish> granted =
        wishes.stream()
            .filter(wish -> wish.asked.contains(line) && said.contains(wish.answer))
            .findFirst()
            .filter(wishes::remove); // for one line alone, if several come at once
    granted.ifPresent(wish -> {
      lost.incrementAndGet();
      wish.granted.run();
    });
    return granted.isPresent();
  }

  // Another question of HTTP's ends the wait for the answer to the one before.
  private void hear(Line line, String said) {
    for (Wish wish : wishes) {
      if (said.contains(wish.question)) {
        wish.asked.add(line);
      } else if (said.startsWith("POST ") || said.startsWith("GET ")) {
        wish.asked.remove(line);
      }
    }
  }

  @Override
  public void close() throws IOException {
    listening.close();
    lines.forEach(Line::cut);
    release();
  }
}
