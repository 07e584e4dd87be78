package dev.holdfast.executor;

import dev.holdfast.error.HoldfastException;
import dev.holdfast.job.Failure;
import dev.holdfast.job.Limits;
import dev.holdfast.job.Outcome;
import dev.holdfast.worker.JobContext;
import java.io.IOException;
import java.util.Map;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/** Runs commands, each in its own process group, which ends with the lease. Thread-safe. */
final class ProcessExecutor implements KindExecutor {

  static final String NAME = "process";

  private static final int RESULT_CHARS = 10 * 1024;
  private static final int MESSAGE_CHARS = Limits.ERROR_MESSAGE_CHARS - 100;

  private final LeaseWatch watch;
  private final CommandRunner commands;
  private final Secrets secrets;
  private final AllowedUsers users;

  ProcessExecutor(LeaseWatch watch, ExecutorConfig config) {
    this.watch = watch;
    this.commands = new CommandRunner(watch, config.maxOutputChars());
    this.secrets = new Secrets(config.secrets());
    this.users = AllowedUsers.of(config);
  }

  @Override
  public String name() {
    return NAME;
  }

  @Override
  public Outcome run(@Nullable Object args, Runbook book, JobContext job)
      throws InterruptedException {
    Command command;
    try {
      command = Command.of(ProcessArgs.read(args), secrets, job);
    } catch (HoldfastException e) {
      return permanent(e.code().name(), String.valueOf(e.getMessage()));
    }
    Optional<String> wrongUser = command.user().flatMap(users::refusal);
    if (wrongUser.isPresent()) {
      return permanent("USER_NOT_ALLOWED", wrongUser.get());
    }
    Optional<Outcome> tooShort = watch.refusal(job, LeaseWatch.Ending.PROCESS);
    if (tooShort.isPresent()) {
      return tooShort.get();
    }
    if (command.program().isEmpty()) {
      return permanent("COMMAND_NOT_FOUND", "No program " + command.name() + " that can be run");
    }
    try {
      return outcome(commands.run(command, job), job);
    } catch (IOException e) {
      String why = SecretMask.mask(command.hidden(), e.toString());
      return Outcome.failed(Failure.retryable("PROCESS_FAILED", "Could not be run: " + why));
    }
  }

  private static Outcome outcome(CommandRunner.Ended ended, JobContext job) {
    int exitCode = ended.exitCode();
    CommandOutput output = ended.output();
    if (exitCode == 0) {
      return Outcome.succeeded(
          job.payload(Map.of("exit_code", exitCode, "output", output.last(RESULT_CHARS))));
    }
    BadExit bad = new BadExit(exitCode);
    return Outcome.failed(Failure.retryable(bad.errorCode(), withOutput(bad.message(), output)));
  }

  private static String withOutput(String what, CommandOutput output) {
    String last = output.last(MESSAGE_CHARS).strip();
    return last.isEmpty() ? what : what + ": " + last;
  }

  private static Outcome permanent(String code, String message) {
    return Outcome.failed(Failure.permanent(code, message));
  }
}
