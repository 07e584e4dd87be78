package dev.holdfast.executor.files;

import static java.nio.file.LinkOption.NOFOLLOW_LINKS;
import static java.nio.file.StandardOpenOption.APPEND;
import static java.nio.file.StandardOpenOption.CREATE_NEW;
import static java.nio.file.StandardOpenOption.READ;
import static java.nio.file.StandardOpenOption.WRITE;

import dev.holdfast.error.ErrorCode;
import dev.holdfast.error.HoldfastException;
import dev.holdfast.executor.files.SharedDirectory.Opened;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.channels.SeekableByteChannel;
import java.nio.file.DirectoryStream;
import java.nio.file.FileSystemException;
import java.nio.file.NoSuchFileException;
import java.nio.file.NotDirectoryException;
import java.nio.file.Path;
import java.nio.file.SecureDirectoryStream;
import java.nio.file.attribute.BasicFileAttributeView;
import java.nio.file.attribute.BasicFileAttributes;
import java.nio.file.attribute.FileTime;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.UUID;

/**
 * A directory that is held open, and operations on its entries. It stays the same directory,
 * whatever is put in its place meanwhile. Every name is that of one entry, which is checked before
 * it is opened and not followed if it is a link.
 */
final class OpenDirectory implements AutoCloseable {

  private static final String TEMPORARY = ".tmp";
  private static final int DEEPEST = 200;

  private final SecureDirectoryStream<Path> stream;

  private OpenDirectory(SecureDirectoryStream<Path> stream) {
    this.stream = stream;
  }

  static OpenDirectory of(DirectoryStream<Path> stream) {
    if (stream instanceof SecureDirectoryStream<Path> secure) {
      return new OpenDirectory(secure);
    }
    throw new HoldfastException(
        ErrorCode.UNAVAILABLE, "this system cannot open files within an open directory");
  }

  OpenDirectory enter(Path name) throws IOException {
    if (!attributes(name).isDirectory()) { // opening a pipe like this would block
      throw new NotDirectoryException(name.toString());
    }
    return new OpenDirectory(stream.newDirectoryStream(name, NOFOLLOW_LINKS));
  }

  @Override
  public void close() throws IOException {
    stream.close();
  }

  List<String> names() {
    List<String> names = new ArrayList<>();
    stream.forEach(entry -> names.add(String.valueOf(entry.getFileName())));
    return names;
  }

  /**
   * The key of a regular file, which tells it from one that took its place; empty for anything
   * else.
   */
  Optional<Object> key(Path name) throws IOException {
    return Optional.of(attributes(name))
        .filter(BasicFileAttributes::isRegularFile)
        .map(BasicFileAttributes::fileKey);
  }

  /** Empty for anything but a regular file. */
  Optional<Opened> open(Path name) throws IOException {
    BasicFileAttributes before = attributes(name);
    return before.isRegularFile()
        ? Optional.of(
            new Opened(stream.newByteChannel(name, Set.of(READ, NOFOLLOW_LINKS)), before.fileKey()))
        : Optional.empty();
  }

  /** Writes a new file, and then moves it to this name. */
  void replace(Path name, byte[] content) throws IOException {
    Path temporary = temporary("." + name);
    try {
      writeNew(temporary, content);
      move(temporary, this, name);
    } catch (IOException e) {
      deleteIfThere(temporary);
      throw e;
    }
  }

  private void writeNew(Path name, byte[] content) throws IOException {
    try (SeekableByteChannel channel = create(name)) {
      writeAll(channel, content);
      if (channel instanceof FileChannel file) {
        file.force(false);
      }
    }
  }

  void append(Path name, byte[] content) throws IOException {
    try (SeekableByteChannel file = openToAppend(name)) {
      writeAll(file, content);
    }
  }

  private SeekableByteChannel openToAppend(Path name) throws IOException {
    try {
      if (!attributes(name).isRegularFile()) {
        throw new FileSystemException(name.toString(), null, "it is no file");
      }
    } catch (NoSuchFileException e) {
      return create(name);
    }
    return stream.newByteChannel(name, Set.of(APPEND, NOFOLLOW_LINKS));
  }

  private SeekableByteChannel create(Path name) throws IOException {
    return stream.newByteChannel(name, Set.of(CREATE_NEW, WRITE, NOFOLLOW_LINKS));
  }

  private static void writeAll(SeekableByteChannel channel, byte[] content) throws IOException {
    ByteBuffer left = ByteBuffer.wrap(content);
    while (left.hasRemaining()) {
      channel.write(left);
    }
  }

  void move(Path name, OpenDirectory target, Path newName) throws IOException {
    stream.move(name, target.stream, newName);
  }

  boolean deleteIfThere(Path name) throws IOException {
    try {
      stream.deleteFile(name);
      return true;
    } catch (NoSuchFileException e) {
      return false;
    }
  }

  boolean deleteIfOlder(Path name, FileTime since) throws IOException {
    try {
      BasicFileAttributes found = attributes(name);
      if (found.lastModifiedTime().compareTo(since) >= 0) {
        return false;
      }
      if (found.isDirectory()) { // a directory that was not moved to its place
        deleteDirectory(name);
        return true;
      }
      return deleteIfThere(name);
    } catch (NoSuchFileException e) {
      return false; // its writer is alive, and has just renamed it
    }
  }

  /** Deletes an empty directory. */
  void deleteDirectory(Path name) throws IOException {
    stream.deleteDirectory(name);
  }

  /** Deletes an entry of any type, with all its contents. */
  void deleteAll(Path name) throws IOException {
    deleteAll(name, DEEPEST);
  }

  // Each level keeps a directory open; foreign directories must not exhaust the server's open
  // files.
  private void deleteAll(Path name, int levels) throws IOException {
    if (!attributes(name).isDirectory()) {
      stream.deleteFile(name);
      return;
    }
    if (levels == 0) {
      throw new FileSystemException(name.toString(), null, "more than " + DEEPEST + " levels deep");
    }
    try (OpenDirectory inner = enter(name)) {
      for (Path entry : inner.stream) {
        inner.deleteAll(entry.getFileName(), levels - 1);
      }
    }
    deleteDirectory(name);
  }

  private BasicFileAttributes attributes(Path name) throws IOException {
    return stream
        .getFileAttributeView(name, BasicFileAttributeView.class, NOFOLLOW_LINKS)
        .readAttributes();
  }

  /** A unique name for an entry that is being created. */
  static Path temporary(String beginning) {
    return Path.of(beginning + "." + UUID.randomUUID() + TEMPORARY);
  }

  static boolean isTemporary(String name) {
    return name.startsWith(".") && name.endsWith(TEMPORARY);
  }
}
