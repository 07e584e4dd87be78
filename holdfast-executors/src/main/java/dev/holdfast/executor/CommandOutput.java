package dev.holdfast.executor;

import java.io.IOException;
import java.io.InputStream;
import java.io.InputStreamReader;
import java.io.Reader;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Reads the output of a command to its end, whatever it contains: bytes that are not UTF-8 become
 * replacement characters, secrets become stars. It reads on its own thread; other threads may ask
 * for the last part after {@link #await}.
 */
final class CommandOutput {

  private static final Logger log = LoggerFactory.getLogger(CommandOutput.class);

  private static final int TAIL_CHARS = 10 * 1024;

  private final SecretMask mask;
  private final LogLines lines;
  private final Tail tail = new Tail(TAIL_CHARS); // guarded by itself
  private final InputStream source;
  private final Thread reading;

  private CommandOutput(InputStream source, SecretMask mask, LogLines lines) {
    this.source = source;
    this.mask = mask;
    this.lines = lines;
    // A platform thread, because a read from a pipe would pin a virtual thread.
    this.reading = Thread.ofPlatform().daemon().name("holdfast-output").unstarted(this::read);
  }

  static CommandOutput read(InputStream source, SecretMask mask, LogLines lines) {
    CommandOutput output = new CommandOutput(source, mask, lines);
    output.reading.start();
    return output;
  }

  private void read() {
    char[] chars = new char[8192];
    try (Reader reader = new InputStreamReader(source, StandardCharsets.UTF_8)) {
      for (int read = reader.read(chars); read >= 0; read = reader.read(chars)) {
        // Neither logs nor JSON in the database can contain a NUL.
        add(mask.next(new String(chars, 0, read).replace('\0', '\uFFFD')));
      }
    } catch (IOException e) {
      log.debug("The output of a command ended early", e);
    }
    add(mask.last());
    lines.end();
  }

  private void add(String text) {
    synchronized (tail) {
      tail.add(text);
    }
    lines.add(text);
  }

  /**
   * Waits for the end of the output. The end may not come if a process has left the command's
   * process group and keeps the output open; then only what was read so far counts. Ignores
   * interrupts until then: the command has ended, and the caller may have been interrupted before.
   */
  void await(Duration patience) {
    long untilNanos = System.nanoTime() + patience.toNanos();
    boolean interrupted = false;
    while (reading.isAlive() && System.nanoTime() - untilNanos < 0) {
      try {
        boolean unused = reading.join(Duration.ofNanos(untilNanos - System.nanoTime()));
      } catch (InterruptedException e) {
        interrupted = true;
      }
    }
    if (interrupted) {
      Thread.currentThread().interrupt();
    }
  }

  /** Whether the output was read to its end. */
  boolean isOver() {
    return !reading.isAlive();
  }

  /** The end of the output, at most this many characters. */
  String last(int chars) {
    synchronized (tail) {
      return tail.last(chars);
    }
  }
}
