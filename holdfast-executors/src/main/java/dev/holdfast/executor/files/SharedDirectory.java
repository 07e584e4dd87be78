package dev.holdfast.executor.files;

import dev.holdfast.error.ErrorCode;
import dev.holdfast.error.HoldfastException;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.SeekableByteChannel;
import java.nio.file.DirectoryStream;
import java.nio.file.FileSystemException;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.nio.file.attribute.FileTime;
import java.time.Duration;
import java.time.Instant;
import java.util.Arrays;
import java.util.List;
import java.util.Optional;

/**
 * The directory that is shared with agents, whose containers can write whatever they like into it:
 * also links that lead elsewhere, at any moment. So nothing is ever looked up by a whole path. Each
 * access opens one directory after the other, each within the one before and none through a link,
 * and then names one entry of the last. What is neither a file nor a directory is not opened, and
 * nobody waits for long for what became something else meanwhile. Thread-safe.
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

  /** A file as it was when it was opened; {@code key} tells it from one that took its place. */
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

  public void make(List<String> directory) throws IOException {
    in(directory, IfMissing.MAKE, last -> true);
  }

  /**
   * Replaces a file whole: whoever reads it finds the old content or the new. Its directory is not
   * synchronised: should a rename get lost with the machine, the next start writes the file again.
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

  /** Writes it only where it says something else. */
  public boolean writeIfOther(List<String> path, byte[] content) throws IOException {
    Optional<byte[]> there = read(path, content.length + 1);
    if (there.isPresent() && Arrays.equals(there.get(), content)) {
      return false;
    }
    write(path, content);
    return true;
  }

  /**
   * Adds to a regular file, which is made if there is none. All of it has an end, also what is
   * written: a pipe that took the file's place takes only so much.
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
      return; // nobody has read from it
    }
  }

  /** What tells the file that is there now from others; empty when there is none. */
  public Optional<Object> key(List<String> path) throws IOException {
    Path name = last(path);
    try {
      return in(parent(path), IfMissing.FAIL, directory -> directory.key(name));
    } catch (NoSuchFileException e) {
      return Optional.empty();
    }
  }

  /** The names in a directory; none when there is no such. */
  public List<String> list(List<String> path) throws IOException {
    try {
      return in(path, IfMissing.FAIL, OpenDirectory::names);
    } catch (NoSuchFileException e) {
      return List.of();
    }
  }

  /** A file or a link, whatever that leads to; not a directory. */
  public boolean delete(List<String> path) throws IOException {
    try {
      return in(parent(path), IfMissing.FAIL, directory -> directory.deleteIfThere(last(path)));
    } catch (NoSuchFileException e) {
      return false;
    }
  }

  /** Whatever is there, with all that is in it. Links are deleted, not followed. */
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
      return; // as it is to be
    }
  }

  /** Removes from a directory what a writer that died left half written. */
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

  private static List<String> parent(List<String> path) {
    return path.subList(0, path.size() - 1);
  }

  private static Path last(List<String> path) {
    return Path.of(path.getLast());
  }

  // What is done in the last directory opens nothing that could hold it up, and is waited for.
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

  // What is done to the entry may be held up, too, and is then given up.
  private <T> T allWithin(Duration limit, List<String> path, IfMissing ifMissing, Work<T> work)
      throws IOException {
    return access.within(
        limit, path.getLast(), told -> inside(parent(path), ifMissing, work), nothing -> {});
  }

  private <T> T inside(List<String> directories, IfMissing ifMissing, Work<T> work)
      throws IOException {
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
    Path next = Path.of(names.getFirst());
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

  // A directory can only be made by its path, and on that there might be a link by now. So it is
  // made at the top, which nobody can exchange, and moved to its place within open directories.
  private void makeDirectory(OpenDirectory top, OpenDirectory directory, Path name)
      throws IOException {
    Path temporary = OpenDirectory.temporary("");
    Files.createDirectory(root.resolve(temporary));
    try {
      top.move(temporary, directory, name);
    } catch (FileSystemException e) {
      top.deleteDirectory(temporary); // somebody else has made one, or put something there
    }
  }
}
