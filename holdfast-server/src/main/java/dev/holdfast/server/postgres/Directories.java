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

/** Directories that only their owner can read. */
final class Directories {

  private static final FileAttribute<Set<PosixFilePermission>> OWNERS_ALONE =
      PosixFilePermissions.asFileAttribute(PosixFilePermissions.fromString("rwx------"));

  private Directories() {}

  /** Creates an empty directory; removes what an earlier try left there. */
  static Path fresh(Path directory) throws IOException {
    remove(directory);
    return Files.createDirectory(directory, OWNERS_ALONE);
  }

  /**
   * Makes sure that a directory is empty: creates it if it is missing, and refuses one with
   * contents.
   *
   * @param setting the setting that named the directory
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

  /** Creates a directory and its missing parents. */
  static void withParents(Path directory) throws IOException {
    Files.createDirectories(directory, OWNERS_ALONE);
  }

  static void remove(Path directory) throws IOException {
    if (Files.exists(directory)) {
      empty(directory);
      Files.delete(directory);
    }
  }

  /** Removes the contents of a directory. */
  static void empty(Path directory) throws IOException {
    for (Path file : contents(directory)) {
      Files.delete(file);
    }
  }

  // The contents of a directory come before the directory itself.
  private static List<Path> contents(Path directory) throws IOException {
    try (Stream<Path> files = Files.walk(directory)) {
      return files
          .filter(file -> !file.equals(directory))
          .sorted(Comparator.reverseOrder())
          .toList();
    }
  }
}
