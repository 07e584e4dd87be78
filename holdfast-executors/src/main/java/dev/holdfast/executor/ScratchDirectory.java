package dev.holdfast.executor;

import dev.holdfast.fleet.ProcessId;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.SeekableByteChannel;
import java.nio.charset.StandardCharsets;
import java.nio.file.DirectoryStream;
import java.nio.file.FileVisitResult;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.SimpleFileVisitor;
import java.nio.file.StandardOpenOption;
import java.nio.file.attribute.BasicFileAttributes;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.Optional;
import java.util.Set;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * A directory for files that only their owner can read and that exist no longer than an attempt. A
 * file in it names the process that owns it, so that directories of dead processes can be removed.
 */
record ScratchDirectory(Path path) implements AutoCloseable {

  private static final Logger log = LoggerFactory.getLogger(ScratchDirectory.class);

  private static final String PREFIX = "holdfast-attempt-";
  private static final String OWNER = "owner";

  static ScratchDirectory create(Path parent) throws IOException {
    ScratchDirectory created =
        new ScratchDirectory(
            Files.createTempDirectory(
                Files.createDirectories(parent),
                PREFIX,
                PosixFilePermissions.asFileAttribute(
                    PosixFilePermissions.fromString("rwx------"))));
    try {
      Path unused =
          created.write(OWNER, ProcessId.current().map(ProcessId::stored).orElse("unknown"));
      return created;
    } catch (IOException | RuntimeException e) {
      created.close(); // without its owner's name, nobody could tell whether it is left over
      throw e;
    }
  }

  /** Removes the directories of dead processes. */
  static void removeLeftovers(Path parent) {
    Optional<ProcessId> here = ProcessId.current();
    if (here.isEmpty() || !Files.isDirectory(parent)) {
      return;
    }
    try (DirectoryStream<Path> all = Files.newDirectoryStream(parent, PREFIX + "*")) {
      for (Path each : all) {
        if (isOfTheDead(each, here.get())) {
          new ScratchDirectory(each).close();
        }
      }
    } catch (IOException e) {
      log.warn("Could not look for leftovers in {}", parent, e);
    }
  }

  private static boolean isOfTheDead(Path directory, ProcessId here) {
    try {
      ProcessId owner = ProcessId.of(Files.readString(directory.resolve(OWNER)));
      return owner.isDead(here) || owner.isOfAnotherBoot(here);
    } catch (IOException | RuntimeException e) {
      return false; // not ours
    }
  }

  /** Writes a file that only its owner can read, from its first byte on. */
  Path write(String name, String text) throws IOException {
    Path file = path.resolve(name);
    try (SeekableByteChannel channel =
        Files.newByteChannel(
            file,
            Set.of(StandardOpenOption.CREATE_NEW, StandardOpenOption.WRITE),
            PosixFilePermissions.asFileAttribute(PosixFilePermissions.fromString("rw-------")))) {
      ByteBuffer bytes = ByteBuffer.wrap(text.getBytes(StandardCharsets.UTF_8));
      while (bytes.hasRemaining()) {
        channel.write(bytes);
      }
    }
    return file;
  }

  @Override
  public void close() {
    try {
      Files.walkFileTree(path, new Remover());
    } catch (IOException e) {
      log.warn("Could not remove {}", path, e);
    }
  }

  // Symbolic links are removed, not followed.
  private static final class Remover extends SimpleFileVisitor<Path> {
    @Override
    public FileVisitResult visitFile(Path file, BasicFileAttributes attributes) throws IOException {
      Files.deleteIfExists(file);
      return FileVisitResult.CONTINUE;
    }

    @Override
    public FileVisitResult postVisitDirectory(Path directory, @Nullable IOException failure)
        throws IOException {
      Files.deleteIfExists(directory);
      return FileVisitResult.CONTINUE;
    }
  }
}
