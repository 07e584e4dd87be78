package dev.holdfast.cli;

import dev.holdfast.api.Fields;
import dev.holdfast.api.HoldfastClient;
import dev.holdfast.error.ErrorCode;
import dev.holdfast.error.HoldfastException;
import dev.holdfast.job.Job;
import dev.holdfast.job.JobState;
import java.io.PrintWriter;
import java.time.Duration;
import java.util.UUID;
import java.util.concurrent.Callable;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;
import picocli.CommandLine.Spec;

/** Waits for the end of a job, and reports it by the exit code. */
@Command(
    name = "wait",
    description =
        "Waits until a job is over. Exit code 0: it succeeded; 1: it did not; 124: not in time.",
    mixinStandardHelpOptions = true)
final class WaitCommand implements Callable<Integer> {

  private static final int PAUSE_MILLIS = 300;
  private static final int BAR = 30;

  @Spec private @Nullable CommandSpec spec;
  @Mixin private Remote remote = new Remote();

  @Parameters(paramLabel = "ID", description = "The job's id.")
  private String said = "";

  @Option(names = "--timeout", paramLabel = "SECONDS", description = "Waits no longer than this.")
  private @Nullable Long timeout;

  @Override
  public Integer call() throws InterruptedException {
    if (spec == null) {
      throw new IllegalStateException("not run by picocli");
    }
    UUID id = Fields.uuid("id", said);
    try (HoldfastClient client = remote.client()) {
      return await(id, client, spec.commandLine().getOut());
    }
  }

  private int await(UUID id, HoldfastClient client, PrintWriter out) throws InterruptedException {
    long began = System.nanoTime();
    boolean drawing =
        CommandLine.Help.Ansi.AUTO.enabled() && remote.output() == Remote.Output.TABLE;
    while (true) {
      Job job =
          client
              .get(id)
              .orElseThrow(() -> new HoldfastException(ErrorCode.NOT_FOUND, "no job " + id));
      if (drawing) {
        out.print("\r" + bar(job));
        out.flush();
      }
      if (job.state().isFinished()) {
        out.println((drawing ? "\n" : "") + said(job));
        out.flush();
        return job.state() == JobState.SUCCEEDED ? 0 : 1;
      }
      if (timeout != null && System.nanoTime() - began > Duration.ofSeconds(timeout).toNanos()) {
        out.println(
            (drawing ? "\n" : "")
                + (isJson() ? json(job) : id + " is still " + job.state().stored()));
        out.flush();
        return Exit.TOO_LATE.code();
      }
      Thread.sleep(PAUSE_MILLIS);
    }
  }

  private String said(Job job) {
    return isJson()
        ? json(job)
        : job.id()
            + " "
            + job.state().stored()
            + job.errorMessage().map(message -> ": " + Terminal.harmlessText(message)).orElse("");
  }

  private boolean isJson() {
    return remote.output() == Remote.Output.JSON;
  }

  private static String json(Job job) {
    return "{\"id\":\"%s\",\"state\":\"%s\"}".formatted(job.id(), job.state().stored());
  }

  private static String bar(Job job) {
    double percent = job.progress().percent().orElse(job.state().isFinished() ? 100 : 0);
    int full = (int) Math.round(BAR * percent / 100);
    return "[%s%s] %3.0f %% %-10s %s"
        .formatted(
            "#".repeat(full),
            ".".repeat(BAR - full),
            percent,
            job.state().stored(),
            job.progress().message().map(Terminal::harmless).orElse(""));
  }
}
