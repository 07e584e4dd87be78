package dev.holdfast.cli;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import picocli.CommandLine;

/** Detects terminals, and protects them from control characters. */
final class Terminal {

  private static final Pattern LATE_CONTROL = Pattern.compile("[\\x7f-\\x9f]");

  private Terminal() {}

  /**
   * Whether an output of this process is a terminal.
   *
   * @param output 1 for standard output, 2 for standard error
   */
  static boolean is(int output) {
    try {
      String target = Files.readSymbolicLink(Path.of("/proc/self/fd/" + output)).toString();
      return target.startsWith("/dev/pts/") || target.startsWith("/dev/tty");
    } catch (IOException | UnsupportedOperationException e) {
      return CommandLine.Help.Ansi.AUTO.enabled(); // not Linux: the rule for colours
    }
  }

  /** The line without control characters, which could clear, retitle or query the terminal. */
  static String harmless(String line) {
    StringBuilder shown = new StringBuilder(line.length());
    line.codePoints()
        .filter(point -> point == '\t' || !Character.isISOControl(point))
        .forEach(shown::appendCodePoint);
    return shown.toString();
  }

  /** The same for a text of several lines, which stay lines. */
  static String harmlessText(String text) {
    return text.lines().map(Terminal::harmless).collect(Collectors.joining("\n"));
  }

  /**
   * The same JSON with all control characters escaped. JSON itself escapes those before the space
   * only, and terminals obey some of the others as well.
   */
  static String harmlessJson(String json) {
    return LATE_CONTROL
        .matcher(json)
        .replaceAll(found -> "\\\\u%04x".formatted((int) found.group().charAt(0)));
  }
}
