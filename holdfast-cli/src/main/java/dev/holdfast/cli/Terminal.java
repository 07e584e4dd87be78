package dev.holdfast.cli;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import picocli.CommandLine;

/** What a person looks at, and what obeys whoever writes to it. */
final class Terminal {

  private Terminal() {}

  /**
   * Whether that is one.
   *
   * @param output 1, or 2 for errors
   */
  static boolean is(int output) {
    try {
      String target = Files.readSymbolicLink(Path.of("/proc/self/fd/" + output)).toString();
      return target.startsWith("/dev/pts/") || target.startsWith("/dev/tty");
    } catch (IOException | UnsupportedOperationException e) {
      return CommandLine.Help.Ansi.AUTO.enabled(); // not Linux: as colours are decided
    }
  }

  /** A line that is only shown: what would clear, retitle or ask the terminal is left out. */
  static String harmless(String line) {
    StringBuilder shown = new StringBuilder(line.length());
    line.codePoints()
        .filter(point -> point == '\t' || !Character.isISOControl(point))
        .forEach(shown::appendCodePoint);
    return shown.toString();
  }
}
