package dev.holdfast.executor;

import java.io.IOException;
import java.net.StandardProtocolFamily;
import java.net.UnixDomainSocketAddress;
import java.nio.ByteBuffer;
import java.nio.channels.ServerSocketChannel;
import java.nio.channels.SocketChannel;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.concurrent.atomic.AtomicBoolean;

/**
 * Stands between an executor and its engine. Whenever the engine has created a container, something
 * happens before the executor hears of it.
 */
final class EngineRelay implements AutoCloseable {

  private static final String CREATE = "/containers/create";

  private final ServerSocketChannel listening;
  private final Path engine;
  private final Runnable created;

  private EngineRelay(ServerSocketChannel listening, Path engine, Runnable created) {
    this.listening = listening;
    this.engine = engine;
    this.created = created;
  }

  static EngineRelay open(Path at, Path engine, Runnable created) throws IOException {
    ServerSocketChannel listening = ServerSocketChannel.open(StandardProtocolFamily.UNIX);
    listening.bind(UnixDomainSocketAddress.of(at));
    EngineRelay relay = new EngineRelay(listening, engine, created);
    Thread.ofPlatform().daemon().start(relay::accept);
    return relay;
  }

  private void accept() {
    try {
      while (true) {
        SocketChannel near = listening.accept();
        SocketChannel far = SocketChannel.open(UnixDomainSocketAddress.of(engine));
        AtomicBoolean creating = new AtomicBoolean();
        start(
            near,
            far,
            question -> {
              if (question.contains(CREATE)) {
                creating.set(true);
              }
            });
        start(
            far,
            near,
            answer -> {
              if (creating.getAndSet(false)) {
                created.run();
              }
            });
      }
    } catch (IOException e) {
      // closed: the test is over
    }
  }

  private interface Passing {
    void saw(String words);
  }

  private static void start(SocketChannel from, SocketChannel to, Passing passing) {
    Thread.ofPlatform()
        .daemon()
        .start(() -> {
          ByteBuffer words = ByteBuffer.allocate(64 * 1024);
          try (from;
              to) {
            while (from.read(words.clear()) >= 0) {
              passing.saw(StandardCharsets.ISO_8859_1.decode(words.flip().slice()).toString());
              while (words.hasRemaining()) {
                to.write(words);
              }
            }
          } catch (IOException e) {
            // one side hung up
          }
        });
  }

  @Override
  public void close() throws IOException {
    listening.close();
  }
}
