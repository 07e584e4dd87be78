package dev.holdfast.executor;

import dev.holdfast.error.HoldfastException;
import dev.holdfast.job.Failure;
import dev.holdfast.job.Limits;
import dev.holdfast.job.Outcome;
import dev.holdfast.worker.JobContext;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/** Runs playbooks on the node that a job names. Thread-safe. */
final class AnsibleExecutor implements KindExecutor {

  static final String NAME = "ansible";

  private static final String PROGRAM = "ansible-playbook";
  private static final int RESULT_CHARS = 10 * 1024;
  private static final String TEMPORARY = "tmp";
  private static final String HOST_RESULTS = "PLAY RECAP";

  private final LeaseWatch watch;
  private final CommandRunner commands;
  private final Secrets secrets;
  private final Playbooks playbooks;
  private final Path scratch;

  private AnsibleExecutor(LeaseWatch watch, ExecutorConfig config, Playbooks playbooks) {
    this.watch = watch;
    this.commands = new CommandRunner(watch, config.maxOutputChars());
    this.secrets = new Secrets(config.secrets());
    this.playbooks = playbooks;
    this.scratch = config.scratch().toAbsolutePath();
  }

  /** Also removes what processes that are gone left behind. */
  static AnsibleExecutor on(LeaseWatch watch, ExecutorConfig config) {
    Playbooks playbooks = Playbooks.in(config.playbooks());
    AnsibleExecutor executor = new AnsibleExecutor(watch, config, playbooks);
    ScratchDirectory.removeLeftovers(executor.scratch);
    return executor;
  }

  @Override
  public String name() {
    return NAME;
  }

  @Override
  public Outcome run(@Nullable Object args, Runbook book, JobContext job)
      throws InterruptedException {
    PlaybookVars vars;
    try {
      vars = PlaybookVars.of(args, secrets, book, job);
    } catch (HoldfastException e) {
      return permanent(e.code().name(), String.valueOf(e.getMessage()));
    }
    Optional<Path> playbook = book.playbook().flatMap(playbooks::find);
    if (playbook.isEmpty()) {
      return permanent(
          "ANSIBLE_PLAYBOOK_NOT_FOUND",
          book.playbook()
              .map(name -> "No playbook " + name + " in the directory of playbooks")
              .orElse("Kind " + job.kind() + " is registered with no playbook"));
    }
    if (book.node().isEmpty()) {
      return permanent(
          "NODE_NOT_FOUND",
          Optional.ofNullable(book.ids().get("node_id"))
              .map(id -> "No node " + id + " is registered")
              .orElse("The job names no node_id"));
    }
    Optional<Outcome> tooShort = watch.refusal(job, LeaseWatch.Ending.PROCESS);
    return tooShort.isPresent()
        ? tooShort.get()
        : play(playbook.get(), book.node().get(), vars, job);
  }

  private Outcome play(Path playbook, NodeAddress node, PlaybookVars vars, JobContext job)
      throws InterruptedException {
    if (Thread.interrupted()) {
      throw new InterruptedException("before the playbook was started");
    }
    try (ScratchDirectory directory = ScratchDirectory.create(scratch)) {
      Path inventory =
          directory.write(
              "inventory.json", PlaybookVars.inventory(node, directory.path().resolve(TEMPORARY)));
      Path extraVars = directory.write("extra-vars.json", vars.json());
      Command command =
          Command.of(
              List.of(
                  PROGRAM,
                  "--inventory",
                  inventory.toString(),
                  "--extra-vars",
                  "@" + extraVars,
                  playbook.toString()),
              playbooks.root(),
              environment(directory.path()),
              vars.hidden(),
              job);
      if (command.program().isEmpty()) {
        return permanent("ANSIBLE_NOT_FOUND", "No program " + PROGRAM + " that can be run");
      }
      return outcome(commands.run(command, job), job);
    } catch (IOException e) {
      if (Thread.interrupted()) { // an interrupt closes the file that is being written
        throw new InterruptedException("while the playbook was being started");
      }
      String why = SecretMask.mask(vars.hidden(), e.toString());
      return Outcome.failed(Failure.retryable("PROCESS_FAILED", "Could not be run: " + why));
    }
  }

  private static Map<String, String> environment(Path directory) throws IOException {
    Path temporary = Files.createDirectory(directory.resolve(TEMPORARY));
    Map<String, String> environment = new HashMap<>();
    environment.put("LC_ALL", "C.UTF-8"); // Ansible does not start without UTF-8
    environment.put("PYTHONUNBUFFERED", "1"); // the log is followed live
    environment.put("ANSIBLE_NOCOLOR", "1");
    environment.put("ANSIBLE_RETRY_FILES_ENABLED", "0");
    environment.put("ANSIBLE_LOCAL_TEMP", temporary.toString());
    environment.put("TMPDIR", temporary.toString()); // killed modules do not clean up
    return environment;
  }

  private static Outcome outcome(CommandRunner.Ended ended, JobContext job) {
    String last = ended.output().last(RESULT_CHARS);
    return failure(ended.exitCode(), last)
        .map(Outcome::failed)
        .orElseGet(() -> Outcome.succeeded(job.payload(Map.of("exit_code", 0, "output", last))));
  }

  /** The failure that an exit code means; empty for success. */
  static Optional<Failure> failure(int exitCode, String output) {
    return switch (exitCode) {
      case 0 -> Optional.empty();
      case 1 -> failed("ANSIBLE_PLAY_ERROR", true, exitCode, output);
      case 2 -> failed("ANSIBLE_HOST_FAILED", true, exitCode, output);
      // Newer versions use this code for syntax errors as well; then no host is reported.
      case 4 ->
          output.contains(HOST_RESULTS)
              ? failed("ANSIBLE_HOST_UNREACHABLE", true, exitCode, output)
              : failed("ANSIBLE_SYNTAX_ERROR", false, exitCode, output);
      case 5 -> failed("ANSIBLE_SYNTAX_ERROR", false, exitCode, output);
      case 250 -> failed("ANSIBLE_UNEXPECTED_ERROR", false, exitCode, output);
      default -> failed("ANSIBLE_UNKNOWN_EXIT", false, exitCode, output);
    };
  }

  private static Optional<Failure> failed(
      String code, boolean retryable, int exitCode, String output) {
    int from = Math.max(0, output.length() - Limits.ERROR_MESSAGE_CHARS);
    String message = output.isBlank() ? "Exit code " + exitCode : output.substring(from);
    return Optional.of(new Failure(code, message, retryable));
  }

  private static Outcome permanent(String code, String message) {
    return Outcome.failed(Failure.permanent(code, message));
  }
}
