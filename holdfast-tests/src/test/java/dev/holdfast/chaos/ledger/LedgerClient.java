package dev.holdfast.chaos.ledger;

import java.io.BufferedReader;
import java.io.BufferedWriter;
import java.io.IOException;
import java.io.InputStreamReader;
import java.io.OutputStreamWriter;
import java.io.UncheckedIOException;
import java.net.InetAddress;
import java.net.Socket;
import java.nio.charset.StandardCharsets;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;

/**
 * Speaks to the ledger over one connection. On a platform thread of its own, because a socket that
 * a virtual thread waits for is closed when that thread is interrupted, and handlers are.
 * Thread-safe.
 */
public final class LedgerClient implements AutoCloseable {

  private final Socket socket;
  private final BufferedReader in;
  private final BufferedWriter out;
  private final ExecutorService thread =
      Executors.newSingleThreadExecutor(Thread.ofPlatform().daemon().name("ledger").factory());

  public LedgerClient(int port, String who) throws IOException {
    socket = new Socket(InetAddress.getLoopbackAddress(), port);
    socket.setTcpNoDelay(true);
    in = new BufferedReader(new InputStreamReader(socket.getInputStream(), StandardCharsets.UTF_8));
    out =
        new BufferedWriter(
            new OutputStreamWriter(socket.getOutputStream(), StandardCharsets.UTF_8));
    boolean unused = tell("hello " + who).join();
  }

  /** Whether the ledger takes it. Waits for the answer, interrupted or not. */
  public boolean says(String line) {
    return tell(line).join();
  }

  /** The same, for those who have no time to wait. */
  public CompletableFuture<Boolean> tell(String line) {
    return CompletableFuture.supplyAsync(() -> ask(line), thread);
  }

  private boolean ask(String line) {
    try {
      out.write(line + "\n");
      out.flush();
      String answer = in.readLine();
      if (answer == null) {
        throw new IOException("the ledger hung up");
      }
      return answer.equals("ok");
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  @Override
  public void close() throws IOException {
    thread.shutdown();
    socket.close();
  }
}
