package dev.holdfast.bench.measure;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Optional;
import java.util.stream.Stream;

/** CPU time of a server and its children, from /proc. Elsewhere than on Linux there is none. */
final class ServerProcesses {

  private static final Path PROC = Path.of("/proc");
  // USER_HZ has been 100 on every platform for decades, whatever the kernel ticks at.
  private static final long NANOS_PER_TICK = 10_000_000;

  // Positions in /proc/<pid>/stat, counted from the state, which follows the bracketed name.
  private static final int PARENT = 1;
  private static final int USER_TICKS = 11;
  private static final int SYSTEM_TICKS = 12;
  private static final int DEAD_CHILDREN_USER_TICKS = 13;
  private static final int DEAD_CHILDREN_SYSTEM_TICKS = 14;

  private ServerProcesses() {}

  static long cpuNanos(long postmaster) {
    if (!Files.isDirectory(PROC)) {
      return 0;
    }
    try (Stream<Path> all = Files.list(PROC)) {
      String parent = Long.toString(postmaster);
      long ticks =
          all.filter(path -> Character.isDigit(path.getFileName().toString().charAt(0)))
              .flatMap(path -> stat(path).stream())
              .filter(stat -> stat.get(PARENT).equals(parent))
              .mapToLong(stat -> ticks(stat, USER_TICKS) + ticks(stat, SYSTEM_TICKS))
              .sum();
      return (ticks + own(postmaster)) * NANOS_PER_TICK;
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  private static long own(long postmaster) {
    return stat(PROC.resolve(Long.toString(postmaster))).stream()
        .mapToLong(stat ->
            ticks(stat, USER_TICKS)
                + ticks(stat, SYSTEM_TICKS)
                + ticks(stat, DEAD_CHILDREN_USER_TICKS)
                + ticks(stat, DEAD_CHILDREN_SYSTEM_TICKS))
        .sum();
  }

  private static long ticks(List<String> stat, int position) {
    return Long.parseLong(stat.get(position));
  }

  /** Empty when the process ended meanwhile. */
  private static Optional<List<String>> stat(Path process) {
    try {
      String line = Files.readString(process.resolve("stat"));
      return Optional.of(List.of(line.substring(line.lastIndexOf(')') + 2).split(" ")));
    } catch (IOException e) {
      return Optional.empty();
    }
  }
}
