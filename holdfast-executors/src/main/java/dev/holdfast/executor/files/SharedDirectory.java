package dev.holdfast.executor.files;

import static java.nio.file.LinkOption.NOFOLLOW_LINKS;
import static java.nio.file.StandardOpenOption.APPEND;
import static java.nio.file.StandardOpenOption.CREATE_NEW;
import static java.nio.file.StandardOpenOption.READ;
import static java.nio.file.StandardOpenOption.WRITE;

import dev.holdfast.error.ErrorCode;
import dev.holdfast.error.HoldfastException;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.channels.SeekableByteChannel;
import java.nio.file.DirectoryStream;
import java.nio.file.FileSystemException;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.NotDirectoryException;
import java.nio.file.Path;
import java.nio.file.SecureDirectoryStream;
import java.nio.file.attribute.BasicFileAttributeView;
import java.nio.file.attribute.BasicFileAttributes;
import java.nio.file.attribute.FileTime;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.UUID;

/**
 * The directory that is shared with agents, whose containers can write whatever they like into it:
 * also links that lead elsewhere, at any moment. So nothing is ever looked up by a whole path. Each
 * access opens one directory after the other, each within the one before and none through a link,
 * and then names one entry of the last. What is neither a file nor a directory is not opened, and
 * nobody waits for long for what became something else meanwhile. Thread-safe.
 */
public final class SharedDirectory {

  private static final String TEMPORARY = ".tmp";
  private static final Duration LONGEST_WRITE = Duration.ofHours(1);
  private static final Duration LONGEST_ACCESS = Duration.ofSeconds(10);
  private static final Duration LONGEST_CLEARING = Duration.ofMinutes(10);
  private static final int DEEPEST = 200;

  private final Path root;
  private final BoundedAccess access = new BoundedAccess();

  private SharedDirectory(Path root) {
    this.root = root;
  }

  /** Makes what is missing of it. */
  public static SharedDirectory at(Path directory) {
    try {
      Files.createDirectories(directory);
      return new SharedDirectory(directory.toRealPath());
    } catch (IOException e) {
      throw new HoldfastException(
          ErrorCode.UNAVAILABLE, "the shared directory " + directory + " cannot be used", e);
    }
  }

  /** As agents know it, who have it at the same place. */
  public String path() {
    return root.toString();
  }

  private interface Work<T> {
    T in(SecureDirectoryStream<Path> directory) throws IOException;
  }

  /** A file as it was when it was opened; {@code key} tells it from one that took its place. */
  public record Opened(SeekableByteChannel channel, Object key) implements AutoCloseable {

    @Override
    public void close() throws IOException {
      channel.close();
    }
  }

  public void make(List<String> directory) throws IOException {
    in(directory, true, last -> true);
  }

  /**
   * Replaces a file whole: whoever reads it finds the old content or the new. Its directory is not
   * synchronised: should a rename get lost with the machine, the next start writes the file again.
   */
  public void write(List<String> path, byte[] content) throws IOException {
    Path name = Path.of(path.getLast());
    Path temporary = Path.of("." + name + "." + UUID.randomUUID() + TEMPORARY);
    in(
        parent(path),
        true,
        directory -> {
          try {
            writeNew(directory, temporary, content);
            directory.move(temporary, directory, name);
          } catch (IOException e) {
            deleteIfThere(directory, temporary);
            throw e;
          }
          return true;
        });
  }

  /**
   * Adds to a regular file, which is made if there is none. All of it has an end, also what is
   * written: a pipe that took the file's place takes only so much.
   */
  public void append(List<String> path, byte[] content) throws IOException {
    Path name = Path.of(path.getLast());
    boolean unused =
        access.within(
            LONGEST_ACCESS,
            name.toString(),
            told ->
                inside(
                    parent(path),
                    true,
                    directory -> {
                      try (SeekableByteChannel file = openToAppend(directory, name)) {
                        writeAll(file, content);
                      }
                      return true;
                    }),
            nothing -> {});
  }

  private static SeekableByteChannel openToAppend(SecureDirectoryStream<Path> directory, Path name)
      throws IOException {
    try {
      if (!attributes(directory, name).isRegularFile()) {
        throw new FileSystemException(name.toString(), null, "it is no file");
      }
    } catch (NoSuchFileException e) {
      return directory.newByteChannel(name, Set.of(CREATE_NEW, WRITE, NOFOLLOW_LINKS));
    }
    return directory.newByteChannel(name, Set.of(APPEND, NOFOLLOW_LINKS));
  }

  private static void writeAll(SeekableByteChannel channel, byte[] content) throws IOException {
    ByteBuffer left = ByteBuffer.wrap(content);
    while (left.hasRemaining()) {
      channel.write(left);
    }
  }

  private static void writeNew(SecureDirectoryStream<Path> directory, Path name, byte[] content)
      throws IOException {
    try (SeekableByteChannel channel =
        directory.newByteChannel(name, Set.of(CREATE_NEW, WRITE, NOFOLLOW_LINKS))) {
      writeAll(channel, content);
      if (channel instanceof FileChannel file) {
        file.force(false);
      }
    }
  }

  /** Writes it only where it says something else. */
  public boolean writeIfOther(List<String> path, byte[] content) throws IOException {
    Optional<byte[]> there = read(path, content.length + 1);
    if (there.isPresent() && Arrays.equals(there.get(), content)) {
      return false;
    }
    write(path, content);
    return true;
  }

  /** A regular file's first bytes; empty when there is none. */
  public Optional<byte[]> read(List<String> path, int most) throws IOException {
    try (Opened file = open(path).orElse(null)) {
      if (file == null) {
        return Optional.empty();
      }
      ByteBuffer content = ByteBuffer.allocate((int) Math.min(most, file.channel.size()));
      int read;
      do {
        read = file.channel.read(content);
      } while (read >= 0 && content.hasRemaining());
      return Optional.of(Arrays.copyOf(content.array(), content.position()));
    }
  }

  /** A regular file, to be read; empty when there is none. What is no file is not opened. */
  public Optional<Opened> open(List<String> path) throws IOException {
    Path name = Path.of(path.getLast());
    try {
      return access.within(
          LONGEST_ACCESS,
          name.toString(),
          told -> inside(parent(path), false, directory -> open(directory, name)),
          SharedDirectory::closeQuietly);
    } catch (NoSuchFileException e) {
      return Optional.empty();
    }
  }

  private static Optional<Opened> open(SecureDirectoryStream<Path> directory, Path name)
      throws IOException {
    BasicFileAttributes before = attributes(directory, name);
    return before.isRegularFile()
        ? Optional.of(
            new Opened(
                directory.newByteChannel(name, Set.of(READ, NOFOLLOW_LINKS)), before.fileKey()))
        : Optional.empty();
  }

  /** What tells the file that is there now from others; empty when there is none. */
  public Optional<Object> key(List<String> path) throws IOException {
    Path name = Path.of(path.getLast());
    try {
      return in(
          parent(path),
          false,
          directory ->
              Optional.of(attributes(directory, name))
                  .filter(BasicFileAttributes::isRegularFile)
                  .map(BasicFileAttributes::fileKey));
    } catch (NoSuchFileException e) {
      return Optional.empty();
    }
  }

  /** The names in a directory; none when there is no such. */
  public List<String> list(List<String> path) throws IOException {
    try {
      return in(
          path,
          false,
          directory -> {
            List<String> names = new ArrayList<>();
            directory.forEach(entry -> names.add(String.valueOf(entry.getFileName())));
            return names;
          });
    } catch (NoSuchFileException e) {
      return List.of();
    }
  }

  /** A file or a link, whatever that leads to; not a directory. */
  public boolean delete(List<String> path) throws IOException {
    try {
      return in(
          parent(path), false, directory -> deleteIfThere(directory, Path.of(path.getLast())));
    } catch (NoSuchFileException e) {
      return false;
    }
  }

  /** Whatever is there, with all that is in it. Links are deleted, not followed. */
  public void deleteAll(List<String> path) throws IOException {
    try {
      access.within(
          LONGEST_CLEARING,
          path.getLast(),
          told ->
              inside(
                  parent(path),
                  false,
                  directory -> {
                    deleteAll(directory, Path.of(path.getLast()), DEEPEST);
                    return true;
                  }),
          nothing -> {});
    } catch (NoSuchFileException e) {
      return; // as it is to be
    }
  }

  // Each level keeps a directory open, and those of others must not use up what the server has.
  private static void deleteAll(SecureDirectoryStream<Path> directory, Path name, int levels)
      throws IOException {
    if (!attributes(directory, name).isDirectory()) {
      directory.deleteFile(name);
      return;
    }
    if (levels == 0) {
      throw new FileSystemException(name.toString(), null, "more than " + DEEPEST + " levels deep");
    }
    try (SecureDirectoryStream<Path> inner = enter(directory, name)) {
      for (Path entry : inner) {
        deleteAll(inner, entry.getFileName(), levels - 1);
      }
    }
    directory.deleteDirectory(name);
  }

  /** Removes from a directory what a writer that died left half written. */
  public void removeLeftovers(List<String> path) throws IOException {
    FileTime since = FileTime.from(Instant.now().minus(LONGEST_WRITE));
    for (String name : list(path)) {
      if (isTemporary(name)) {
        in(path, false, directory -> deleteIfOlder(directory, Path.of(name), since));
      }
    }
  }

  private static boolean deleteIfOlder(
      SecureDirectoryStream<Path> directory, Path name, FileTime since) throws IOException {
    try {
      BasicFileAttributes found = attributes(directory, name);
      if (found.lastModifiedTime().compareTo(since) >= 0) {
        return false;
      }
      if (found.isDirectory()) { // one that was not yet moved to its place
        directory.deleteDirectory(name);
        return true;
      }
      return deleteIfThere(directory, name);
    } catch (NoSuchFileException e) {
      return false; // its writer lives, and has just renamed it
    }
  }

  public static boolean isTemporary(String name) {
    return name.startsWith(".") && name.endsWith(TEMPORARY);
  }

  private static boolean deleteIfThere(SecureDirectoryStream<Path> directory, Path name)
      throws IOException {
    try {
      directory.deleteFile(name);
      return true;
    } catch (NoSuchFileException e) {
      return false;
    }
  }

  private static BasicFileAttributes attributes(SecureDirectoryStream<Path> directory, Path name)
      throws IOException {
    return directory
        .getFileAttributeView(name, BasicFileAttributeView.class, NOFOLLOW_LINKS)
        .readAttributes();
  }

  private static List<String> parent(List<String> path) {
    return path.subList(0, path.size() - 1);
  }

  private static void closeQuietly(Optional<Opened> file) {
    try {
      if (file.isPresent()) {
        file.get().close();
      }
    } catch (IOException e) {
      return; // nobody has read from it
    }
  }

  // What is done in the last directory opens nothing that could hold it up, and is waited for.
  private <T> T in(List<String> directories, boolean make, Work<T> work) throws IOException {
    return access.within(
        LONGEST_ACCESS,
        String.join("/", directories),
        told ->
            inside(
                directories,
                make,
                directory -> {
                  told.opened();
                  return work.in(directory);
                }),
        nothing -> {});
  }

  private <T> T inside(List<String> directories, boolean make, Work<T> work) throws IOException {
    try (DirectoryStream<Path> stream = Files.newDirectoryStream(root)) {
      SecureDirectoryStream<Path> top = secure(stream);
      return in(top, top, directories, make, work);
    }
  }

  private <T> T in(
      SecureDirectoryStream<Path> top,
      SecureDirectoryStream<Path> directory,
      List<String> names,
      boolean make,
      Work<T> work)
      throws IOException {
    if (names.isEmpty()) {
      return work.in(directory);
    }
    Path next = Path.of(names.getFirst());
    try (SecureDirectoryStream<Path> inner = enter(top, directory, next, make)) {
      return in(top, inner, names.subList(1, names.size()), make, work);
    }
  }

  private SecureDirectoryStream<Path> enter(
      SecureDirectoryStream<Path> top,
      SecureDirectoryStream<Path> directory,
      Path name,
      boolean make)
      throws IOException {
    try {
      return enter(directory, name);
    } catch (NoSuchFileException e) {
      if (!make) {
        throw e;
      }
      makeDirectory(top, directory, name);
      return enter(directory, name);
    }
  }

  private static SecureDirectoryStream<Path> enter(SecureDirectoryStream<Path> directory, Path name)
      throws IOException {
    if (!attributes(directory, name).isDirectory()) { // a pipe is opened like one, and waits
      throw new NotDirectoryException(name.toString());
    }
    return directory.newDirectoryStream(name, NOFOLLOW_LINKS);
  }

  // A directory can only be made by its path, and on that there might be a link by now. So it is
  // made at the top, which nobody can exchange, and moved to its place within open directories.
  private void makeDirectory(
      SecureDirectoryStream<Path> top, SecureDirectoryStream<Path> directory, Path name)
      throws IOException {
    Path temporary = Path.of("." + UUID.randomUUID() + TEMPORARY);
    Files.createDirectory(root.resolve(temporary));
    try {
      top.move(temporary, directory, name);
    } catch (FileSystemException e) {
      top.deleteDirectory(temporary); // somebody else has made one, or put something there
    }
  }

  private static SecureDirectoryStream<Path> secure(DirectoryStream<Path> stream) {
    if (stream instanceof SecureDirectoryStream<Path> secure) {
      return secure;
    }
    throw new HoldfastException(
        ErrorCode.UNAVAILABLE, "this system cannot open files within an open directory");
  }
}
