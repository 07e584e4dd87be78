package dev.holdfast.executor;

import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * A command in its own process group, which never runs unwatched.
 *
 * <p>It starts as a gate, which waits for a line on its input before it becomes the command. The
 * line is sent once the watchdog knows the group. If this process dies before that, the gate's
 * input ends, and so does the gate.
 */
final class WatchedProcess implements AutoCloseable {

  private static final Logger log = LoggerFactory.getLogger(WatchedProcess.class);

  private static final String GATE =
      """
      read -r go || exit 125
      [[ -z $1 ]] || umask "$1" || exit 125
      exec -- "${@:2}"
      """;

  // For another user. The environment that the job sets must not apply to anything that still runs
  // as us (it may name libraries to load), so the other user's shell reads it from the input.
  private static final String GATE_OF_ANOTHER =
      """
      read -r go || exit 125
      [[ -z $1 ]] || umask "$1" || exit 125
      group=$(id -g -- "$2") && entry=$(getent passwd -- "$2") || exit 125
      home=${entry%:*}
      exec setpriv --reuid="$2" --regid="$group" --init-groups -- \\
        env -i PATH="$PATH" HOME="${home##*:}" USER="$2" "$BASH" -p -c '
          while IFS= read -r -d "" variable && [[ -n $variable ]]; do
            export -- "$variable" || exit 125
          done
          exec -- "$@"
        ' lease-gate "${@:3}"
      """;

  private static final Duration CHECK = Duration.ofMillis(500);
  private static final Duration LOOK_AGAIN = Duration.ofMillis(50);
  // For KILL to take effect, on top of the grace.
  private static final Duration KILL_PATIENCE = Duration.ofSeconds(1);

  private final Process process;
  private final CompletableFuture<Process> exit;
  private final Watchdog watchdog;
  private boolean isClosed;

  private WatchedProcess(Process process, Watchdog watchdog) {
    this.process = process;
    this.exit = process.onExit();
    this.watchdog = watchdog;
  }

  static WatchedProcess start(
      Shell shell, Command command, Watchdog watchdog, Watchdog.Deadline deadline)
      throws IOException {
    List<String> arguments = new ArrayList<>(List.of("lease-gate", command.umask().orElse("")));
    command.user().ifPresent(arguments::add);
    arguments.addAll(command.argv());
    boolean asAnother = command.user().isPresent();
    ProcessBuilder builder = shell.inOwnSession(asAnother ? GATE_OF_ANOTHER : GATE, arguments);
    builder.directory(command.directory().toFile());
    builder.environment().clear();
    builder
        .environment()
        .putAll(asAnother ? Map.of("PATH", Programs.USUAL_PATH) : command.environment());
    builder.redirectErrorStream(true);
    WatchedProcess started = new WatchedProcess(builder.start(), watchdog);
    try {
      watchdog.watch(started.group(), deadline);
      started.open(command);
      return started;
    } catch (Throwable e) { // whatever it is, the gate must not stay and wait
      started.close();
      throw e;
    }
  }

  private void open(Command command) throws IOException {
    OutputStream input = process.getOutputStream();
    input.write("go\n".getBytes(StandardCharsets.UTF_8));
    input.flush();
    String variables = command.user().isPresent() ? listed(command.environment()) : "";
    if (command.stdin().isEmpty() && variables.isEmpty()) {
      input.close();
      return;
    }
    byte[] text = (variables + command.stdin().orElse("")).getBytes(StandardCharsets.UTF_8);
    // On its own thread: a command may write before it reads, or never read.
    Thread.ofPlatform().daemon().name("holdfast-input").start(() -> feed(input, text));
  }

  private static String listed(Map<String, String> environment) {
    StringBuilder list = new StringBuilder();
    environment.forEach((name, value) -> list.append(name).append('=').append(value).append('\0'));
    return list.append('\0').toString();
  }

  private static void feed(OutputStream input, byte[] text) {
    try (input) {
      input.write(text);
    } catch (IOException e) {
      log.debug("A command did not read all of its input", e);
    }
  }

  private long group() {
    return process.pid();
  }

  InputStream output() {
    return process.getInputStream();
  }

  /**
   * Waits for the command to end.
   *
   * @return its exit code, or 128 plus the signal's number
   * @throws InterruptedException after everything was stopped
   */
  int await(Duration grace) throws InterruptedException, IOException {
    while (true) {
      try {
        return exit.get(CHECK.toMillis(), TimeUnit.MILLISECONDS).exitValue();
      } catch (TimeoutException e) {
        watchdog.checkWatching();
      } catch (ExecutionException e) {
        throw new IOException(e.getCause());
      } catch (InterruptedException e) {
        stop(grace.plus(KILL_PATIENCE));
        throw e;
      }
    }
  }

  // Ignores interrupts: a second one must not leave the command running.
  private void stop(Duration patience) throws IOException {
    watchdog.stop(group());
    long untilNanos = System.nanoTime() + patience.toNanos();
    while (System.nanoTime() - untilNanos < 0 && !(exit.isDone() && watchdog.isGone(group()))) {
      try {
        Thread.sleep(LOOK_AGAIN);
      } catch (InterruptedException e) {
        log.debug("Interrupted again while a command is being stopped");
      }
    }
  }

  /** Kills what is left of the group, because its job is over. */
  @Override
  public void close() {
    if (isClosed) {
      return; // another group may have its number by now
    }
    isClosed = true;
    try {
      watchdog.end(group());
    } catch (IOException e) {
      log.warn("Without a watchdog, only descendants of process {} are killed", group(), e);
      process.descendants().forEach(ProcessHandle::destroyForcibly);
      process.destroyForcibly();
    }
  }
}
