package dev.holdfast.server;

import static java.nio.charset.StandardCharsets.UTF_8;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.stream.Stream;

/** What the kernel tells others about each process that runs now. */
final class ProcessTable {

  private static final Path PROC = Path.of("/proc");

  /**
   * One of them.
   *
   * @param environment empty where we may not read it
   */
  record Row(String commandLine, String environment) {}

  private ProcessTable() {}

  static List<Row> now() throws IOException {
    try (Stream<Path> all = Files.list(PROC)) {
      return all.filter(each -> PROC.relativize(each).toString().matches("\\d+"))
          .map(each -> new Row(read(each.resolve("cmdline")), read(each.resolve("environ"))))
          .toList();
    }
  }

  // It may have ended meanwhile, or not be ours.
  private static String read(Path file) {
    try {
      return new String(Files.readAllBytes(file), UTF_8).replace('\0', ' ');
    } catch (IOException e) {
      return "";
    }
  }
}
