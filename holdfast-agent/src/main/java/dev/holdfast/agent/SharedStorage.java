package dev.holdfast.agent;

import dev.holdfast.error.ErrorCode;
import dev.holdfast.error.HoldfastException;
import dev.holdfast.executor.files.SharedDirectory;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.InvalidPathException;
import java.nio.file.Path;
import java.util.List;
import java.util.Optional;
import java.util.regex.Pattern;

/**
 * The directory that workers share with their server. Containers write to it, too, so what is found
 * there is not trusted: nothing outside of it is read or written, whatever links say.
 */
final class SharedStorage {

  private static final Pattern ID = Pattern.compile("[A-Za-z0-9][A-Za-z0-9_.-]{0,127}");

  private final Path root; // without symbolic links
  private final SharedDirectory files;

  private SharedStorage(Path root) {
    this.root = root;
    this.files = SharedDirectory.at(root);
  }

  static SharedStorage in(Path directory) {
    try {
      return new SharedStorage(directory.toRealPath());
    } catch (IOException e) {
      throw HoldfastException.badConfig(
          "shared-dir", directory, "a directory that there is: the mount of the shared storage");
    }
  }

  Path root() {
    return root;
  }

  static boolean isId(String jobId) {
    return ID.matcher(jobId).matches() && !jobId.contains("..");
  }

  /** Why a configuration cannot be used; empty when it can. */
  Optional<String> refusal(String configPath) {
    try {
      Path file = root.resolve(configPath).toRealPath();
      if (file.startsWith(root) && Files.isRegularFile(file) && Files.isReadable(file)) {
        return Optional.empty();
      }
    } catch (IOException | InvalidPathException e) {
      // Not there either.
    }
    return Optional.of("config " + configPath + " cannot be read on the shared storage");
  }

  /** Adds to a job's log file. */
  void log(String jobId, List<String> lines) {
    try {
      files.append(
          List.of("jobs", jobId, "logs", jobId + ".log"),
          (String.join("\n", lines) + "\n").getBytes(StandardCharsets.UTF_8));
    } catch (IOException e) {
      throw new HoldfastException(
          ErrorCode.UNAVAILABLE, "the log of job " + jobId + " cannot be written: " + e, e);
    }
  }
}
