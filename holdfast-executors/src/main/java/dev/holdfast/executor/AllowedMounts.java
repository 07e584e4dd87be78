package dev.holdfast.executor;

import dev.holdfast.error.HoldfastException;
import java.io.IOException;
import java.nio.file.InvalidPathException;
import java.nio.file.Path;
import java.util.List;
import java.util.Optional;

/** The directories of this machine that containers may mount: none, unless configured. */
final class AllowedMounts {

  private static final String READ_ONLY = ":ro";

  private record Root(Path path, boolean readOnly) {}

  private final List<Root> roots;

  AllowedMounts(List<String> entries) {
    this.roots = entries.stream().map(AllowedMounts::root).toList();
  }

  private static Root root(String entry) {
    boolean readOnly = entry.endsWith(READ_ONLY);
    String path = readOnly ? entry.substring(0, entry.length() - READ_ONLY.length()) : entry;
    return new Root(
        real(path)
            .orElseThrow(() ->
                HoldfastException.badConfig(
                    "executors.mounts", entry, "absolute paths that there are, with :ro or not")),
        readOnly);
  }

  private static Optional<Path> real(String path) {
    try {
      Path given = Path.of(path);
      return given.isAbsolute() ? Optional.of(given.toRealPath()) : Optional.empty();
    } catch (IOException | InvalidPathException e) {
      return Optional.empty();
    }
  }

  /** The real path, without symbolic links, if it may be mounted. */
  Optional<Path> find(String path, boolean readOnly) {
    return real(path)
        .filter(place -> place.toString().indexOf(':') < 0) // a colon ends the path, for the engine
        .filter(place ->
            roots.stream()
                .anyMatch(root -> place.startsWith(root.path) && (readOnly || !root.readOnly)));
  }
}
