package dev.holdfast.agent;

import dev.holdfast.error.ErrorCode;
import dev.holdfast.error.HoldfastException;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.SeekableByteChannel;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.InvalidPathException;
import java.nio.file.LinkOption;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.regex.Pattern;

/**
 * The directory that workers share with their server. Containers write to it, too, so what is found
 * there is not trusted: nothing outside of it is read or written, whatever links say.
 *
 * @param root without symbolic links
 */
record SharedStorage(Path root) {

  private static final Pattern ID = Pattern.compile("[A-Za-z0-9][A-Za-z0-9_.-]{0,127}");

  static SharedStorage in(Path directory) {
    try {
      return new SharedStorage(directory.toRealPath());
    } catch (IOException e) {
      throw HoldfastException.badConfig(
          "shared-dir", directory, "a directory that there is: the mount of the shared storage");
    }
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
      Path logs = Files.createDirectories(root.resolve("jobs").resolve(jobId).resolve("logs"));
      if (!logs.toRealPath().startsWith(root)) {
        throw new IOException(logs + " leads out of the shared storage");
      }
      try (SeekableByteChannel file =
          Files.newByteChannel(
              logs.resolve(jobId + ".log"),
              Set.of(
                  StandardOpenOption.CREATE,
                  StandardOpenOption.WRITE,
                  StandardOpenOption.APPEND,
                  LinkOption.NOFOLLOW_LINKS))) {
        ByteBuffer bytes =
            ByteBuffer.wrap((String.join("\n", lines) + "\n").getBytes(StandardCharsets.UTF_8));
        while (bytes.hasRemaining()) {
          file.write(bytes);
        }
      }
    } catch (IOException e) {
      throw new HoldfastException(
          ErrorCode.UNAVAILABLE, "the log of job " + jobId + " cannot be written: " + e, e);
    }
  }
}
