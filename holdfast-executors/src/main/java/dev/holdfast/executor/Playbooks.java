package dev.holdfast.executor;

import dev.holdfast.error.HoldfastException;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.InvalidPathException;
import java.nio.file.Path;
import java.util.Optional;

/**
 * The only directory with playbooks. Files outside it cannot be found, not even through symbolic
 * links.
 *
 * @param root the real path of the directory
 */
record Playbooks(Path root) {

  static Playbooks in(Optional<Path> directory) {
    Path given =
        directory.orElseThrow(
            () -> HoldfastException.badConfig("executors.playbooks", "missing", "a directory"));
    try {
      Path root = given.toRealPath();
      if (Files.isDirectory(root)) {
        return new Playbooks(root);
      }
    } catch (IOException e) {
      // it does not exist, either
    }
    throw HoldfastException.badConfig("executors.playbooks", given, "a directory that there is");
  }

  Optional<Path> find(String name) {
    try {
      Path file = root.resolve(name).toRealPath();
      return Optional.of(file).filter(path -> path.startsWith(root) && Files.isRegularFile(path));
    } catch (IOException | InvalidPathException e) {
      return Optional.empty();
    }
  }
}
