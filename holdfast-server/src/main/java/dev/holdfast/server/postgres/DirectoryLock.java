package dev.holdfast.server.postgres;

import dev.holdfast.error.HoldfastException;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.channels.OverlappingFileLockException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;

/**
 * Lets only one server use a data directory. The lock is released when the process ends, however it
 * ends.
 */
final class DirectoryLock implements AutoCloseable {

  private final FileChannel channel;

  private DirectoryLock(FileChannel channel) {
    this.channel = channel;
  }

  static DirectoryLock take(Path directory) throws IOException {
    Path file = directory.resolve("server.lock");
    FileChannel channel =
        FileChannel.open(
            file, StandardOpenOption.CREATE, StandardOpenOption.READ, StandardOpenOption.WRITE);
    try {
      if (channel.tryLock() != null) {
        channel.truncate(0);
        channel.write(
            ByteBuffer.wrap(
                String.valueOf(ProcessHandle.current().pid()).getBytes(StandardCharsets.UTF_8)));
        return new DirectoryLock(channel);
      }
    } catch (OverlappingFileLockException e) {
      // this process has the lock itself
    }
    String owner = Files.readString(file).strip();
    channel.close();
    throw HoldfastException.badConfig(
        "--data", directory, "a directory that no other server uses; process " + owner + " does");
  }

  @Override
  public void close() throws IOException {
    channel.close();
  }
}
