package dev.holdfast.executor;

import dev.holdfast.error.HoldfastException;
import dev.holdfast.job.Failure;
import dev.holdfast.job.Kind;
import dev.holdfast.job.Limits;
import dev.holdfast.job.Outcome;
import dev.holdfast.worker.JobContext;
import java.io.IOException;
import java.time.Duration;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/** Runs commands, each in a process group of its own that ends with its lease. Thread-safe. */
final class ProcessExecutor implements KindExecutor {

  static final String NAME = "process";

  private static final Duration AFTER_KILL = Duration.ofSeconds(1);

  private static final Duration OUTPUT_PATIENCE = Duration.ofSeconds(5);
  private static final int RESULT_CHARS = 10 * 1024;
  private static final int MESSAGE_CHARS = Limits.ERROR_MESSAGE_CHARS - 100;

  // What the shell and Java answer for somebody whom a signal ended: 128 and its number.
  private static final int FIRST_SIGNAL = 129;
  private static final int LAST_SIGNAL = 128 + 64;

  private final Shell shell;
  private final ExecutorConfig config;
  private final Secrets secrets;
  private final Watchdog watchdog;

  private ProcessExecutor(Shell shell, ExecutorConfig config) {
    this.shell = shell;
    this.config = config;
    this.secrets = new Secrets(config.secrets());
    this.watchdog = new Watchdog(shell, config.termGrace());
  }

  /** Refuses machines that have not what it needs. */
  static ProcessExecutor on(ExecutorConfig config) {
    return new ProcessExecutor(Shell.find(), config);
  }

  @Override
  public Kind<Object> kind() {
    return Kind.of(NAME, Object.class);
  }

  @Override
  public Outcome handle(@Nullable Object args, JobContext job) throws InterruptedException {
    Command command;
    try {
      command = Command.of(ProcessArgs.read(args), secrets, job);
    } catch (HoldfastException e) {
      return permanent(e.code().name(), String.valueOf(e.getMessage()));
    }
    if (job.stopMargin().compareTo(config.neededMargin()) < 0) {
      return leaseTooShort();
    }
    if (command.program().isEmpty()) {
      return permanent("COMMAND_NOT_FOUND", "No program " + command.name() + " that can be run");
    }
    return run(command, job);
  }

  private Outcome run(Command command, JobContext job) throws InterruptedException {
    if (Thread.interrupted()) {
      throw new InterruptedException("before the command was started");
    }
    try (WatchedProcess process =
        WatchedProcess.start(shell, command, watchdog, () -> deadline(job))) {
      CommandOutput output =
          CommandOutput.read(
              process.output(),
              new SecretMask(command.hidden()),
              new LogLines(job, config.maxOutputChars()));
      return outcome(await(process, output), output, job);
    } catch (IOException e) {
      String why = SecretMask.mask(command.hidden(), e.toString());
      return Outcome.failed(Failure.retryable("PROCESS_FAILED", "Could not be run: " + why));
    }
  }

  // Also what a command says while it is being stopped is kept.
  private int await(WatchedProcess process, CommandOutput output)
      throws InterruptedException, IOException {
    try {
      return process.await(config.termGrace());
    } finally {
      process.close(); // what is left of the group may keep the output open
      output.await(OUTPUT_PATIENCE);
    }
  }

  // The clock is read first: when we are frozen after that, the deadline is early, never late.
  private long deadline(JobContext job) throws IOException {
    long now = Uptime.now();
    Duration left = job.leaseLeft().minus(config.termGrace()).minus(AFTER_KILL);
    return Math.max(0, now + Uptime.hundredths(left));
  }

  private static Outcome outcome(int exitCode, CommandOutput output, JobContext job) {
    if (exitCode == 0) {
      return Outcome.succeeded(
          job.payload(Map.of("exit_code", exitCode, "output", output.last(RESULT_CHARS))));
    }
    if (exitCode >= FIRST_SIGNAL && exitCode <= LAST_SIGNAL) {
      String what = "Ended by signal " + (exitCode - FIRST_SIGNAL + 1);
      return Outcome.failed(Failure.retryable("KILLED", withOutput(what, output)));
    }
    return Outcome.failed(
        Failure.retryable("EXIT_" + exitCode, withOutput("Exit code " + exitCode, output)));
  }

  private static String withOutput(String what, CommandOutput output) {
    String last = output.last(MESSAGE_CHARS).strip();
    return last.isEmpty() ? what : what + ": " + last;
  }

  private Outcome leaseTooShort() {
    Duration needed = config.neededMargin();
    return permanent(
        "LEASE_TOO_SHORT",
        "A fifth of the job's lease must be "
            + needed.toMillis() / 1000.0
            + " s at least, to stop its command in time; take lease_seconds of "
            + config.shortestLease().toMillis() / 1000.0);
  }

  private static Outcome permanent(String code, String message) {
    return Outcome.failed(Failure.permanent(code, message));
  }

  @Override
  public void close() {
    watchdog.close();
  }
}
