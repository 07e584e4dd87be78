package dev.holdfast.executor;

import java.nio.file.Files;
import java.nio.file.InvalidPathException;
import java.nio.file.Path;
import java.util.Optional;
import java.util.regex.Pattern;

/** Finds programs like {@code exec}, to tell a missing program from one that fails. */
final class Programs {

  static final String USUAL_PATH = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin";

  private static final Pattern COLON = Pattern.compile(":");

  private Programs() {}

  static Optional<Path> find(String name, String path, Path directory) {
    try {
      if (name.indexOf('/') >= 0) {
        return Optional.of(directory.resolve(name)).filter(Programs::isProgram);
      }
      return COLON
          .splitAsStream(path)
          .map(place -> directory.resolve(place).resolve(name))
          .filter(Programs::isProgram)
          .findFirst();
    } catch (InvalidPathException e) {
      return Optional.empty();
    }
  }

  private static boolean isProgram(Path file) {
    return Files.isRegularFile(file) && Files.isExecutable(file);
  }
}
