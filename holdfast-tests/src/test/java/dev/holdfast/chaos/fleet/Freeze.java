package dev.holdfast.chaos.fleet;

import java.io.BufferedReader;
import java.io.IOException;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;

/**
 * Stops a process and continues it after a while. Done by a small process of its own: should the
 * test be killed meanwhile, the frozen one is woken all the same, finds that its standard input has
 * ended, and ends.
 */
public final class Freeze {

  private static final String SCRIPT =
      """
      trap '' HUP INT TERM
      kill -STOP "$1" && echo frozen && sleep "$2"
      kill -CONT "$1"
      """;

  private final Process shell;

  private Freeze(Process shell) {
    this.shell = shell;
  }

  /** Returns when the process has stopped. */
  public static Freeze of(Process victim, Duration length) throws IOException {
    Process shell =
        new ProcessBuilder(
                "sh",
                "-c",
                SCRIPT,
                "freeze",
                String.valueOf(victim.pid()),
                String.valueOf(length.toMillis() / 1000.0))
            .redirectError(ProcessBuilder.Redirect.DISCARD)
            .start();
    BufferedReader out = shell.inputReader();
    if (!"frozen".equals(out.readLine())) {
      throw new IOException("Could not stop process " + victim.pid());
    }
    return new Freeze(shell);
  }

  /** Completes when the process goes on. */
  public CompletableFuture<Process> over() {
    return shell.onExit();
  }
}
