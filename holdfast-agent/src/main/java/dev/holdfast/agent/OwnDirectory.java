package dev.holdfast.agent;

import dev.holdfast.error.HoldfastException;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.channels.FileChannel;
import java.nio.channels.FileLock;
import java.nio.channels.OverlappingFileLockException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.nio.file.attribute.PosixFilePermissions;

/**
 * An agent's directory, which one process has at a time. The system takes the lock away when the
 * process dies, and not before: who gets it knows that whoever had it is no more.
 */
record OwnDirectory(Path path, FileChannel lockFile) implements AutoCloseable {

  static OwnDirectory take(Path directory) {
    try {
      Path path =
          Files.createDirectories(
                  directory,
                  PosixFilePermissions.asFileAttribute(
                      PosixFilePermissions.fromString("rwx------")))
              .toRealPath();
      FileChannel file =
          FileChannel.open(
              path.resolve("agent.lock"), StandardOpenOption.CREATE, StandardOpenOption.WRITE);
      if (!isOurs(file)) {
        file.close();
        throw HoldfastException.badConfig(
            "agent.data", directory, "a directory that no other agent has at the same time");
      }
      return new OwnDirectory(path, file);
    } catch (IOException e) {
      throw new UncheckedIOException("cannot use " + directory, e);
    }
  }

  private static boolean isOurs(FileChannel file) throws IOException {
    try {
      FileLock lock = file.tryLock();
      return lock != null;
    } catch (OverlappingFileLockException e) {
      return false; // this very process has it
    }
  }

  @Override
  public void close() {
    try {
      lockFile.close();
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }
}
