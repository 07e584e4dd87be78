package dev.holdfast.cli;

import dev.holdfast.api.HoldfastClient;
import dev.holdfast.api.Json;
import dev.holdfast.error.HoldfastException;
import dev.holdfast.job.Job;
import dev.holdfast.job.JobState;
import java.io.PrintWriter;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.UUID;
import java.util.concurrent.Callable;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;
import picocli.CommandLine.Spec;
import tools.jackson.databind.node.ObjectNode;

/** Runs a command as a job, as if it ran here. */
@Command(
    name = "run",
    description = {
      "Runs a command as a job, prints what it says, and exits with its code.",
      "Interrupted, it cancels the job."
    },
    mixinStandardHelpOptions = true)
final class RunCommand implements Callable<Integer> {

  private static final Pattern EXIT = Pattern.compile("EXIT_(\\d{1,3})");
  private static final Duration PAUSE = Duration.ofMillis(200);

  @Spec private @Nullable CommandSpec spec;
  @Mixin private Remote remote = new Remote();

  @Option(
      names = "--queue",
      defaultValue = "default",
      description = "The queue that it stands in. Default: ${DEFAULT-VALUE}",
      paramLabel = "NAME")
  private String queue = "";

  @Option(names = "--detach", description = "Only enqueues it, and prints the job's id.")
  private boolean detach;

  @Parameters(arity = "1..*", paramLabel = "CMD", description = "After --, with its arguments.")
  private List<String> command = List.of();

  @Override
  public Integer call() throws InterruptedException {
    if (spec == null) {
      throw new IllegalStateException("not run by picocli");
    }
    PrintWriter out = spec.commandLine().getOut();
    HoldfastClient client = remote.client();
    UUID id = enqueue(client);
    if (detach) {
      out.println(
          remote.output() == Remote.Output.JSON
              ? Json.write(Json.object().put("id", id.toString()))
              : id.toString());
      out.flush();
      return 0;
    }
    AtomicBoolean over = new AtomicBoolean();
    PrintWriter err = spec.commandLine().getErr();
    Thread cancel = new Thread(() -> cancelUnless(over, client, id, err));
    Runtime.getRuntime().addShutdownHook(cancel);
    try {
      JobLog log = new JobLog(client, id, out, remote.output());
      Job job = new Following(id, log, PAUSE).toTheEnd();
      if (!log.isRead()) {
        err.printf(
            "holdfast: not all of it could be printed; to read it: holdfast jobs logs %s%n", id);
        err.flush();
      }
      return exitCode(job, err);
    } finally {
      over.set(true); // whatever else ends this process, only an interrupt cancels the job
    }
  }

  private UUID enqueue(HoldfastClient client) {
    ObjectNode job = Json.object().put("kind", "process").put("queue", queue);
    command.forEach(job.putObject("args").putArray("argv")::add);
    job.put("max_attempts", 1);
    job.putNull("timeout_seconds");
    ObjectNode answer = client.ask("POST", "/jobs", Map.of(), Optional.of(job));
    return UUID.fromString(answer.path("id").asString());
  }

  /**
   * Cancels the job while this process ends; the reason for that may be that the server is gone.
   */
  static void cancelUnless(AtomicBoolean over, HoldfastClient client, UUID id, PrintWriter err) {
    if (over.get()) {
      return;
    }
    try {
      client.ask("POST", "/jobs/" + id + "/cancel", Map.of(), Optional.of(Json.object()));
    } catch (HoldfastException e) {
      err.printf("holdfast: job %s goes on, it could not be cancelled: %s%n", id, e.getMessage());
      err.flush();
    }
  }

  private static int exitCode(Job job, PrintWriter err) {
    if (job.state() == JobState.SUCCEEDED) {
      return 0;
    }
    Matcher code = EXIT.matcher(job.errorCode().orElse(""));
    if (code.matches()) {
      return Integer.parseInt(code.group(1));
    }
    err.printf(
        "holdfast: job %s %s: %s%n",
        job.id(),
        job.state().stored(),
        job.errorMessage().map(Terminal::harmlessText).orElse("no reason"));
    err.flush();
    return Exit.WRONG.code();
  }
}
