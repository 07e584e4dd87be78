package dev.holdfast.executor.files;

import dev.holdfast.error.ErrorCode;
import dev.holdfast.error.HoldfastException;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.SeekableByteChannel;
import java.nio.file.DirectoryStream;
import java.nio.file.FileSystemException;
import java.nio.file.Files;
import java.nio.file.InvalidPathException;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.nio.file.attribute.FileTime;
import java.time.Duration;
import java.time.Instant;
import java.util.Arrays;
import java.util.List;
import java.util.Optional;

/**
 * The directory that is shared with agents, whose containers can write anything into it, at any
 * moment, including links that lead elsewhere. So nothing is ever looked up by a whole path. Each
 * access opens one directory after the other, each within the one before and none through a link,
 * and then names one entry of the last. Only regular files and directories are opened, and if one
 * is replaced by something that blocks, the wait is limited. Thread-safe.
 */
public final class SharedDirectory {

  private static final Duration LONGEST_WRITE = Duration.ofHours(1);
  private static final Duration LONGEST_ACCESS = Duration.ofSeconds(10);
  private static final Duration LONGEST_CLEARING = Duration.ofMinutes(10);

  private enum IfMissing {
    MAKE,
    FAIL
  }

  private interface Work<T> {
    T in(OpenDirectory directory) throws IOException;
  }

  /** An open file; {@code key} tells it from one that takes its place later. */
  public record Opened(SeekableByteChannel channel, Object key) implements AutoCloseable {

    @Override
    public void close() throws IOException {
      channel.close();
    }
  }

  private final Path root;
  private final BoundedAccess access = new BoundedAccess();

  private SharedDirectory(Path root) {
    this.root = root;
  }

  /** Creates the directory if it is missing. */
  public static SharedDirectory at(Path directory) {
    try {
      Files.createDirectories(directory);
      return new SharedDirectory(directory.toRealPath());
    } catch (IOException e) {
      throw new HoldfastException(
          ErrorCode.UNAVAILABLE, "the shared directory " + directory + " cannot be used", e);
    }
  }

  /** The path of the directory, which is the same for agents. */
  public String path() {
    return root.toString();
  }

  public void make(List<String> directory) throws IOException {
    in(directory, IfMissing.MAKE, last -> true);
  }

  /**
   * Replaces a file atomically: readers find either the old content or the new. Its directory is
   * not forced to disk: if a crash of the machine undoes the rename, the next start writes the file
   * again.
   */
  public void write(List<String> path, byte[] content) throws IOException {
    Path name = last(path);
    in(
        parent(path),
        IfMissing.MAKE,
        directory -> {
          directory.replace(name, content);
          return true;
        });
  }

  /** Writes a file only if its content differs. */
  public boolean writeIfOther(List<String> path, byte[] content) throws IOException {
    Optional<byte[]> there = read(path, content.length + 1);
    if (there.isPresent() && Arrays.equals(there.get(), content)) {
      return false;
    }
    write(path, content);
    return true;
  }

  /**
   * Appends to a regular file, which is created if it is missing. The time limit includes the
   * write, because a pipe that took the file's place accepts only a limited amount.
   */
  public void append(List<String> path, byte[] content) throws IOException {
    Path name = last(path);
    allWithin(
        LONGEST_ACCESS,
        path,
        IfMissing.MAKE,
        directory -> {
          directory.append(name, content);
          return true;
        });
  }

  /** The first bytes of a regular file; empty when there is none. */
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

  /** Opens a regular file for reading; empty when there is none. Anything else is not opened. */
  public Optional<Opened> open(List<String> path) throws IOException {
    Path name = last(path);
    try {
      return access.within(
          LONGEST_ACCESS,
          path.getLast(),
          told -> inside(parent(path), IfMissing.FAIL, directory -> directory.open(name)),
          SharedDirectory::closeQuietly);
    } catch (NoSuchFileException e) {
      return Optional.empty();
    }
  }

  private static void closeQuietly(Optional<Opened> file) {
    try {
      if (file.isPresent()) {
        file.get().close();
      }
    } catch (IOException e) {
      return; // nothing was read from it
    }
  }

  /** The key of the regular file that is there now; empty when there is none. */
  public Optional<Object> key(List<String> path) throws IOException {
    Path name = last(path);
    try {
      return in(parent(path), IfMissing.FAIL, directory -> directory.key(name));
    } catch (NoSuchFileException e) {
      return Optional.empty();
    }
  }

  /** The names in a directory; none if it does not exist. */
  public List<String> list(List<String> path) throws IOException {
    try {
      return in(path, IfMissing.FAIL, OpenDirectory::names);
    } catch (NoSuchFileException e) {
      return List.of();
    }
  }

  /** Deletes a file or a link, but not what a link leads to, and no directory. */
  public boolean delete(List<String> path) throws IOException {
    try {
      return in(parent(path), IfMissing.FAIL, directory -> directory.deleteIfThere(last(path)));
    } catch (NoSuchFileException e) {
      return false;
    }
  }

  /** Deletes an entry of any type, with all its contents. Links are deleted, not followed. */
  public void deleteAll(List<String> path) throws IOException {
    try {
      allWithin(
          LONGEST_CLEARING,
          path,
          IfMissing.FAIL,
          directory -> {
            directory.deleteAll(last(path));
            return true;
          });
    } catch (NoSuchFileException e) {
      return; // nothing to delete
    }
  }

  /** Removes half-written entries that dead writers left in a directory. */
  public void removeLeftovers(List<String> path) throws IOException {
    FileTime since = FileTime.from(Instant.now().minus(LONGEST_WRITE));
    for (String name : list(path)) {
      if (isTemporary(name)) {
        in(path, IfMissing.FAIL, directory -> directory.deleteIfOlder(Path.of(name), since));
      }
    }
  }

  public static boolean isTemporary(String name) {
    return OpenDirectory.isTemporary(name);
  }

  /** Whether a text can name an entry of a directory. All else would lead somewhere else. */
  public static boolean isEntry(String name) {
    return !name.isEmpty()
        && !name.equals(".")
        && !name.equals("..")
        && name.indexOf('/') < 0
        && name.indexOf('\0') < 0;
  }

  private static List<String> parent(List<String> path) {
    return path.subList(0, path.size() - 1);
  }

  private static Path last(List<String> path) throws IOException {
    return entry(path.getLast());
  }

  // Of a name with several parts the system follows all links but the last.
  private static Path entry(String name) throws IOException {
    try {
      if (isEntry(name)) {
        return Path.of(name);
      }
    } catch (InvalidPathException e) {
      // It has characters that the file system does not know.
    }
    throw new FileSystemException(name, null, "it is not the name of one entry");
  }

  // Work in the last directory opens nothing that could block, so the caller waits for it.
  private <T> T in(List<String> directories, IfMissing ifMissing, Work<T> work) throws IOException {
    return access.within(
        LONGEST_ACCESS,
        String.join("/", directories),
        told ->
            inside(
                directories,
                ifMissing,
                directory -> {
                  told.opened();
                  return work.in(directory);
                }),
        nothing -> {});
  }

  // Work on the entry may block as well, and is then given up.
  private <T> T allWithin(Duration limit, List<String> path, IfMissing ifMissing, Work<T> work)
      throws IOException {
    return access.within(
        limit, path.getLast(), told -> inside(parent(path), ifMissing, work), nothing -> {});
  }

  private <T> T inside(List<String> directories, IfMissing ifMissing, Work<T> work)
      throws IOException {
    if (ifMissing == IfMissing.MAKE && Files.notExists(root)) {
      // It is moved away with its tenant, and a new tenant may have taken the name.
      Files.createDirectories(root);
    }
    try (DirectoryStream<Path> stream = Files.newDirectoryStream(root)) {
      OpenDirectory top = OpenDirectory.of(stream);
      return descend(top, top, directories, ifMissing, work);
    }
  }

  private <T> T descend(
      OpenDirectory top,
      OpenDirectory directory,
      List<String> names,
      IfMissing ifMissing,
      Work<T> work)
      throws IOException {
    if (names.isEmpty()) {
      return work.in(directory);
    }
    Path next = entry(names.getFirst());
    try (OpenDirectory inner = enter(top, directory, next, ifMissing)) {
      return descend(top, inner, names.subList(1, names.size()), ifMissing, work);
    }
  }

  private OpenDirectory enter(
      OpenDirectory top, OpenDirectory directory, Path name, IfMissing ifMissing)
      throws IOException {
    try {
      return directory.enter(name);
    } catch (NoSuchFileException e) {
      if (ifMissing == IfMissing.FAIL) {
        throw e;
      }
      makeDirectory(top, directory, name);
      return directory.enter(name);
    }
  }

  // A directory can only be created by its path, which may contain a link by now. So it is created
  // at the top, which others cannot replace, and moved to its place between open directories.
  private void makeDirectory(OpenDirectory top, OpenDirectory directory, Path name)
      throws IOException {
    Path temporary = OpenDirectory.temporary("");
    Files.createDirectory(root.resolve(temporary));
    try {
      top.move(temporary, directory, name);
    } catch (FileSystemException e) {
      top.deleteDirectory(temporary); // another writer was faster, or something else is there
    }
  }
}
