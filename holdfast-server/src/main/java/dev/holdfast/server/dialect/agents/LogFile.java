package dev.holdfast.server.dialect.agents;

import static java.nio.charset.StandardCharsets.UTF_8;

import dev.holdfast.executor.files.SharedDirectory;
import dev.holdfast.executor.files.SharedDirectory.Opened;
import java.io.IOException;
import java.io.OutputStream;
import java.nio.ByteBuffer;
import java.nio.file.FileSystemException;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.function.BooleanSupplier;

/**
 * A log that somebody else writes: it grows, is cut short, or makes way for a new one. Whoever
 * follows it gets what was in the old one to its end, then the new one from its beginning.
 */
final class LogFile {

  static final String TYPE = "text/plain; charset=utf-8";

  /** An answer has an end; what comes after is for the next one to ask for. */
  static final long MOST_BYTES = 64L << 20;

  private static final Duration PACE = Duration.ofMillis(250);
  private static final Duration LONGEST = Duration.ofHours(1);
  private static final int CHUNK = 64 * 1024;

  private final SharedDirectory shared;
  private final List<String> path;
  private final ByteBuffer chunk = ByteBuffer.allocate(CHUNK);
  private long sent;

  LogFile(SharedDirectory shared, List<String> path) {
    this.shared = shared;
    this.path = path;
  }

  Optional<Opened> open() throws IOException {
    return shared.open(path);
  }

  /** What is in it now, from an offset on. */
  void copy(Opened first, long offset, OutputStream out) throws IOException {
    try (first) {
      first.channel().position(offset);
      drain(first, out);
    }
  }

  /** The same, and what is added while {@code goesOn}. */
  void follow(Opened first, long offset, OutputStream out, BooleanSupplier goesOn)
      throws IOException, InterruptedException {
    long endsAtNanos = System.nanoTime() + LONGEST.toNanos();
    Opened file = first;
    try {
      file.channel().position(offset);
      boolean last;
      do {
        // Asked before it is read: what was written before the end must not be missed.
        last = !goesOn.getAsBoolean() || System.nanoTime() - endsAtNanos > 0;
        if (drain(file, out)) {
          return;
        }
        out.flush();
        file = current(file, out);
        if (!last) {
          Thread.sleep(PACE);
        }
      } while (!last);
    } finally {
      file.close();
    }
  }

  /** The one that is there now; from its beginning when it is not the one that was. */
  private Opened current(Opened file, OutputStream out) throws IOException {
    if (file.channel().size() < file.channel().position()) {
      file.channel().position(0); // cut short, and written anew
    }
    if (!key().filter(key -> !key.equals(file.key())).isPresent()) {
      return file;
    }
    Optional<Opened> next = reopened();
    if (next.isEmpty()) {
      return file;
    }
    drain(file, out); // what was added before it made way
    file.close();
    drain(next.get(), out);
    return next.get();
  }

  private Optional<Object> key() throws IOException {
    try {
      return shared.key(path);
    } catch (FileSystemException e) {
      return Optional.empty(); // no file of ours any more; the old one is still open
    }
  }

  private Optional<Opened> reopened() throws IOException {
    try {
      return open();
    } catch (FileSystemException e) {
      return Optional.empty();
    }
  }

  /** Sends what is there; true when that was as much as one answer may have. */
  private boolean drain(Opened file, OutputStream out) throws IOException {
    while (sent < MOST_BYTES && file.channel().read(chunk.clear()) > 0) {
      int length = (int) Math.min(chunk.position(), MOST_BYTES - sent);
      out.write(chunk.array(), 0, length);
      sent += length;
      if (sent >= MOST_BYTES) {
        out.write(
            "\n… (cut after %d bytes; go on with ?offset=)\n"
                .formatted(MOST_BYTES)
                .getBytes(UTF_8));
      }
    }
    return sent >= MOST_BYTES;
  }
}
