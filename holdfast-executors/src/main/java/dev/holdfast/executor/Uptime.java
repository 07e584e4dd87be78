package dev.holdfast.executor;

import java.io.FileInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.time.Duration;

/**
 * The clock that this process shares with the watchdog: the uptime of the machine, in hundredths of
 * a second. It cannot be set, and it advances while the machine sleeps.
 */
final class Uptime {

  static final Path CLOCK = Path.of("/proc/uptime");

  private Uptime() {}

  static long now() throws IOException {
    String line;
    try (InputStream clock =
        new FileInputStream(CLOCK.toFile())) { // an interrupt would close a channel
      line = new String(clock.readAllBytes(), StandardCharsets.US_ASCII);
    }
    return Long.parseLong(line.substring(0, line.indexOf(' ')).replace(".", ""));
  }

  static long hundredths(Duration length) {
    return length.toMillis() / 10;
  }
}
