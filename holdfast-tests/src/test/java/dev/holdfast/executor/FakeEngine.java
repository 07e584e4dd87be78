package dev.holdfast.executor;

import java.io.BufferedReader;
import java.io.IOException;
import java.net.StandardProtocolFamily;
import java.net.UnixDomainSocketAddress;
import java.nio.ByteBuffer;
import java.nio.channels.Channels;
import java.nio.channels.ServerSocketChannel;
import java.nio.channels.SocketChannel;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.List;
import java.util.Locale;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Function;

/** A container engine that answers what a real one answers only on a bad day. */
public final class FakeEngine implements AutoCloseable {

  /**
   * What it answers.
   *
   * @param isEndless whether more seems to come, until the client hangs up
   */
  public record Answer(int status, String body, boolean isEndless) {

    public Answer(int status, String body) {
      this(status, body, false);
    }

    static Answer endless() {
      return new Answer(200, "", true);
    }
  }

  private static final String ENDLESS = "HTTP/1.1 200 So\r\nConnection: close\r\n\r\n";

  private final ServerSocketChannel listening;
  private final Function<String, Answer> answers;
  private final List<String> asked = new CopyOnWriteArrayList<>();
  private final AtomicInteger streams = new AtomicInteger();

  private FakeEngine(ServerSocketChannel listening, Function<String, Answer> answers) {
    this.listening = listening;
    this.answers = answers;
  }

  /**
   * Opens its socket.
   *
   * @param answers to requests by their first words, like {@code GET /images/x/json}
   */
  public static FakeEngine open(Path at, Function<String, Answer> answers) throws IOException {
    ServerSocketChannel listening = ServerSocketChannel.open(StandardProtocolFamily.UNIX);
    listening.bind(UnixDomainSocketAddress.of(at));
    FakeEngine engine = new FakeEngine(listening, answers);
    Thread.ofPlatform().daemon().start(engine::accept);
    return engine;
  }

  /** The requests that came. */
  public List<String> asked() {
    return asked;
  }

  /** How often it was asked to remove a container. */
  public long removals() {
    return asked.stream().filter(words -> words.startsWith("DELETE")).count();
  }

  /** How many clients listen to answers without an end. */
  int streams() {
    return streams.get();
  }

  private void accept() {
    try {
      while (true) {
        SocketChannel connection = listening.accept();
        Thread.ofPlatform().daemon().start(() -> serve(connection));
      }
    } catch (IOException e) {
      // closed: the test is over
    }
  }

  private void serve(SocketChannel connection) {
    try (connection;
        BufferedReader lines =
            new BufferedReader(Channels.newReader(connection, StandardCharsets.UTF_8))) {
      String request = String.valueOf(lines.readLine());
      skipRest(lines);
      String words = request.replaceFirst(" HTTP/1.1$", "").replaceFirst("/v[0-9.]+/", "/");
      asked.add(words);
      Answer answer = answers.apply(words);
      if (answer.isEndless) {
        goOn(connection, lines);
        return;
      }
      byte[] body = answer.body.getBytes(StandardCharsets.UTF_8);
      String head =
          "HTTP/1.1 %d So\r\nContent-Type: application/json\r\nContent-Length: %d\r\n"
                  .formatted(answer.status, body.length)
              + "Connection: close\r\n\r\n";
      connection.write(ByteBuffer.wrap(head.getBytes(StandardCharsets.UTF_8)));
      connection.write(ByteBuffer.wrap(body));
    } catch (IOException e) {
      // the client hung up
    }
  }

  private void goOn(SocketChannel connection, BufferedReader lines) throws IOException {
    streams.incrementAndGet();
    try {
      connection.write(ByteBuffer.wrap(ENDLESS.getBytes(StandardCharsets.UTF_8)));
      while (lines.read() >= 0) {
        // nothing more is asked here
      }
    } finally {
      streams.decrementAndGet();
    }
  }

  // All of it: whoever is hung up on while still speaking does not hear the answer.
  private static void skipRest(BufferedReader lines) throws IOException {
    long length = 0;
    boolean isInChunks = false;
    String line = lines.readLine();
    while (line != null && !line.isEmpty()) {
      String header = line.toLowerCase(Locale.ROOT);
      isInChunks |= header.startsWith("transfer-encoding:");
      if (header.startsWith("content-length:")) {
        length = Long.parseLong(header.substring(header.indexOf(':') + 1).strip());
      }
      line = lines.readLine();
    }
    while (isInChunks && line != null && !line.equals("0")) {
      line = lines.readLine();
    }
    for (long read = 0; read < length && lines.read() >= 0; read++) {
      // only ASCII is sent here
    }
  }

  @Override
  public void close() throws IOException {
    listening.close();
  }
}
