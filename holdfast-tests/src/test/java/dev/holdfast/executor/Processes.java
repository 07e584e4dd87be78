package dev.holdfast.executor;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.concurrent.Callable;

/** Looks at processes from outside. */
public final class Processes {

  private static final Duration LOOK_AGAIN = Duration.ofMillis(20);

  private Processes() {}

  /** One that has ended does not count, even if nobody has asked how yet. */
  public static boolean isRunning(long pid) throws IOException {
    try {
      String stat = Files.readString(Path.of("/proc", String.valueOf(pid), "stat"));
      char state = stat.charAt(stat.lastIndexOf(')') + 2);
      return state != 'Z' && state != 'X';
    } catch (NoSuchFileException e) {
      return false;
    } catch (IOException e) {
      if (String.valueOf(e.getMessage()).contains("No such process")) {
        return false; // it ended while we looked
      }
      throw e;
    }
  }

  /** The number that a command writes to a file. */
  public static long pidIn(Path file) throws Exception {
    await(() -> Files.exists(file) && Files.readString(file).endsWith("\n"));
    return Long.parseLong(Files.readString(file).strip());
  }

  /** Waits until it is so; the test's own timeout ends a wait in vain. */
  public static void await(Callable<Boolean> condition) throws Exception {
    while (!condition.call()) {
      Thread.sleep(LOOK_AGAIN);
    }
  }
}
