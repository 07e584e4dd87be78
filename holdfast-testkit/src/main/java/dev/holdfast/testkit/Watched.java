package dev.holdfast.testkit;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.nio.file.StandardWatchEventKinds;
import java.nio.file.WatchKey;
import java.nio.file.WatchService;
import java.util.Objects;
import java.util.function.Predicate;

/** Waits for files that another process writes, by the file system's notifications. */
public final class Watched {

  private Watched() {}

  /** Waits until the file exists. Nothing but the test's own timeout ends a wait in vain. */
  public static void await(Path file) throws IOException, InterruptedException {
    await(file, text -> true);
  }

  /** Waits until the file exists and its text matches. */
  public static void await(Path file, Predicate<String> says)
      throws IOException, InterruptedException {
    try (WatchService watch = file.getFileSystem().newWatchService()) {
      while (true) {
        Path directory = nearestDirectory(file);
        // Before the file is read, so that every later change is noticed.
        directory.register(
            watch, StandardWatchEventKinds.ENTRY_CREATE, StandardWatchEventKinds.ENTRY_MODIFY);
        if (says(file, says)) {
          return;
        }
        if (nearestDirectory(file).equals(directory)) {
          WatchKey key = watch.take();
          key.pollEvents();
          key.reset();
        }
      }
    }
  }

  private static Path nearestDirectory(Path file) {
    Path absolute = file.toAbsolutePath();
    Path root = Objects.requireNonNull(absolute.getRoot()); // an absolute path has one
    Path parent = absolute.getParent();
    while (parent != null && !Files.isDirectory(parent)) {
      parent = parent.getParent();
    }
    return parent == null ? root : parent;
  }

  private static boolean says(Path file, Predicate<String> says) throws IOException {
    try {
      return says.test(Files.readString(file));
    } catch (NoSuchFileException e) {
      return false;
    }
  }
}
