package dev.holdfast.server.postgres;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.FileAttribute;
import java.nio.file.attribute.PosixFilePermission;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.Comparator;
import java.util.List;
import java.util.Set;
import java.util.stream.Stream;

/** Directories that nobody else can look into. */
final class Directories {

  private static final FileAttribute<Set<PosixFilePermission>> OWNERS_ALONE =
      PosixFilePermissions.asFileAttribute(PosixFilePermissions.fromString("rwx------"));

  private Directories() {}

  /** An empty one; what an earlier try left there is removed. */
  static Path fresh(Path directory) throws IOException {
    remove(directory);
    return Files.createDirectory(directory, OWNERS_ALONE);
  }

  static void remove(Path directory) throws IOException {
    if (Files.exists(directory)) {
      List<Path> all;
      try (Stream<Path> files = Files.walk(directory)) {
        all = files.sorted(Comparator.reverseOrder()).toList();
      }
      for (Path file : all) {
        Files.delete(file);
      }
    }
  }
}
