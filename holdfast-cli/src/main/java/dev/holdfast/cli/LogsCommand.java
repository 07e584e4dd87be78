package dev.holdfast.cli;

import dev.holdfast.api.HoldfastClient;
import java.io.PrintWriter;
import java.time.Duration;
import java.util.UUID;
import java.util.concurrent.Callable;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;
import picocli.CommandLine.Spec;

/** Prints the log of a job, also while it grows. */
@Command(
    name = "logs",
    description = "Prints a job's log; with -f until the job is over.",
    mixinStandardHelpOptions = true)
final class LogsCommand implements Callable<Integer> {

  private static final Duration PAUSE = Duration.ofMillis(500);

  @Spec private @Nullable CommandSpec spec;
  @Mixin private Remote remote = new Remote();

  @Parameters(paramLabel = "ID", description = "The job's id.")
  private UUID id = new UUID(0, 0);

  @Option(
      names = {"-f", "--follow"},
      description = "Goes on until the job is over.")
  private boolean follow;

  @Option(
      names = "--offset",
      defaultValue = "0",
      description = "Begins so many bytes into the log.",
      paramLabel = "BYTES")
  private long offset;

  @Override
  public Integer call() throws InterruptedException {
    if (spec == null) {
      throw new IllegalStateException("not run by picocli");
    }
    PrintWriter out = spec.commandLine().getOut();
    try (HoldfastClient client = remote.client()) {
      JobLog log = new JobLog(client, id, out, remote.output()).from(offset);
      boolean isOver = log.printNew().state().isFinished();
      if (follow && !isOver) {
        new Following(id, log, PAUSE).whileRead();
      }
    }
    return 0;
  }
}
