package dev.holdfast.executor;

import dev.holdfast.worker.JobContext;
import java.io.IOException;
import java.time.Duration;

/** Runs commands to their end, watched, with their output in the job's log. Thread-safe. */
final class CommandRunner {

  private static final Duration OUTPUT_PATIENCE = Duration.ofSeconds(5);

  /** The exit code and the output of a command that has ended. */
  record Ended(int exitCode, CommandOutput output) {}

  private final LeaseWatch watch;
  private final int maxOutputChars;

  CommandRunner(LeaseWatch watch, int maxOutputChars) {
    this.watch = watch;
    this.maxOutputChars = maxOutputChars;
  }

  Ended run(Command command, JobContext job) throws InterruptedException, IOException {
    if (Thread.interrupted()) {
      throw new InterruptedException("before the command was started");
    }
    try (WatchedProcess process =
        WatchedProcess.start(
            watch.shell(),
            command,
            watch.watchdog(),
            watch.deadline(job, LeaseWatch.Ending.PROCESS))) {
      CommandOutput output =
          CommandOutput.read(
              process.output(),
              new SecretMask(command.hidden()),
              new LogLines(job, maxOutputChars));
      return new Ended(await(process, output), output);
    }
  }

  // Keeps what a command writes while it is being stopped, too.
  private int await(WatchedProcess process, CommandOutput output)
      throws InterruptedException, IOException {
    try {
      return process.await(watch.grace());
    } finally {
      process.close(); // the rest of the group may keep the output open
      output.await(OUTPUT_PATIENCE);
    }
  }
}
