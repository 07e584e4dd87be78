package dev.holdfast.server.postgres;

import dev.holdfast.error.HoldfastException;
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

  /**
   * One that has nothing in it; made if need be, and refused if anything is there.
   *
   * @param setting that named it
   */
  static void claimEmpty(String setting, Path directory) throws IOException {
    if (Files.exists(directory)) {
      boolean isFree = Files.isDirectory(directory) && contents(directory).isEmpty();
      if (!isFree) {
        throw HoldfastException.badConfig(setting, directory, "a directory that is new or empty");
      }
    } else {
      withParents(directory);
    }
  }

  /** It, and those above it that are missing. */
  static void withParents(Path directory) throws IOException {
    Files.createDirectories(directory, OWNERS_ALONE);
  }

  static void remove(Path directory) throws IOException {
    if (Files.exists(directory)) {
      empty(directory);
      Files.delete(directory);
    }
  }

  /** Removes what is in it. */
  static void empty(Path directory) throws IOException {
    for (Path file : contents(directory)) {
      Files.delete(file);
    }
  }

  // What is in a directory comes before it.
  private static List<Path> contents(Path directory) throws IOException {
    try (Stream<Path> files = Files.walk(directory)) {
      return files
          .filter(file -> !file.equals(directory))
          .sorted(Comparator.reverseOrder())
          .toList();
    }
  }
}
