package dev.holdfast.executor;

import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;

/**
 * One process that runs {@code watchdog.sh}, in its own session, so that signals to our process
 * group do not reach it. It ends when this process does, and then kills what it watches. Only one
 * thread at a time may ask it.
 */
final class WatchdogProcess {

  // The script is sent on standard input, ended by a NUL: as an argument it would fill every list
  // of processes.
  private static final String LOADER = "IFS= read -r -d '' script && eval \"$script\"";

  // Not named after us: killing everything that is called holdfast must not kill it as well.
  private static final String NAME = "lease-watchdog";

  private static final Duration PATIENCE = Duration.ofSeconds(3);
  private static final String ENDED = "";

  private final Process process;
  private final OutputStream questions;
  private final BlockingQueue<String> answers = new LinkedBlockingQueue<>();

  private WatchdogProcess(Process process) {
    this.process = process;
    this.questions = process.getOutputStream();
  }

  static WatchdogProcess start(Shell shell, Duration grace, Optional<Path> engine)
      throws IOException {
    List<String> arguments =
        new ArrayList<>(List.of(NAME, String.valueOf(Uptime.hundredths(grace))));
    engine.ifPresent(socket -> arguments.add(socket.toString()));
    ProcessBuilder builder = shell.inOwnSession(LOADER, arguments);
    builder.directory(Path.of("/").toFile());
    builder.environment().clear(); // it needs no secrets of ours
    builder.environment().putAll(Map.of("PATH", Programs.USUAL_PATH, "LC_ALL", "C"));
    builder.redirectError(ProcessBuilder.Redirect.DISCARD);
    WatchdogProcess watchdog = new WatchdogProcess(builder.start());
    Thread.ofPlatform().daemon().name("holdfast-watchdog-answers").start(watchdog::hear);
    watchdog.say(script() + "\0");
    return watchdog;
  }

  private static String script() throws IOException {
    try (InputStream file =
        Objects.requireNonNull(WatchdogProcess.class.getResourceAsStream("watchdog.sh"))) {
      return new String(file.readAllBytes(), StandardCharsets.UTF_8);
    }
  }

  private void hear() {
    try (BufferedReader out = process.inputReader(StandardCharsets.UTF_8)) {
      for (String line = out.readLine(); line != null; line = out.readLine()) {
        answers.add(line);
      }
    } catch (IOException e) {
      // the same as its end
    }
    answers.add(ENDED);
  }

  /**
   * Sends a line and waits for the answer.
   *
   * @throws IOException when the process is dead or does not answer; the caller must kill it then
   */
  boolean ask(String line) throws IOException {
    say(line + "\n");
    return switch (answer()) {
      case "ok" -> true;
      case "no" -> false;
      default -> throw new IOException("The watchdog ended");
    };
  }

  private void say(String words) throws IOException {
    questions.write(words.getBytes(StandardCharsets.UTF_8));
    questions.flush();
  }

  // Ignores interrupts, because an interrupt is often the reason for the question.
  private String answer() throws IOException {
    long untilNanos = System.nanoTime() + PATIENCE.toNanos();
    boolean interrupted = false;
    try {
      while (true) {
        try {
          String answer = answers.poll(untilNanos - System.nanoTime(), TimeUnit.NANOSECONDS);
          if (answer == null) {
            throw new IOException("The watchdog does not answer");
          }
          return answer;
        } catch (InterruptedException e) {
          interrupted = true;
        }
      }
    } finally {
      if (interrupted) {
        Thread.currentThread().interrupt();
      }
    }
  }

  /** Ends the process, but not what it watches. */
  void kill() {
    process.destroyForcibly();
  }

  /** Ends the process, and with it what it still watches. */
  void dismiss() {
    try {
      questions.close();
    } catch (IOException e) {
      process.destroyForcibly(); // it is dead, or will not answer
    }
  }
}
