package dev.holdfast.cli;

import dev.holdfast.api.HoldfastClient;
import dev.holdfast.error.ErrorCode;
import dev.holdfast.error.HoldfastException;
import dev.holdfast.queue.LogChunk;
import java.io.PrintWriter;
import java.util.UUID;
import java.util.concurrent.Callable;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;
import picocli.CommandLine.Spec;

/** Prints what a job says, also while it says it. */
@Command(
    name = "logs",
    description = "Prints a job's log; with -f until the job is over.",
    mixinStandardHelpOptions = true)
final class LogsCommand implements Callable<Integer> {

  private static final int LINES_AT_ONCE = 500;
  private static final int PAUSE_MILLIS = 500;

  @Spec private @Nullable CommandSpec spec;
  @Mixin private Remote remote = new Remote();

  @Parameters(paramLabel = "ID")
  private UUID id = new UUID(0, 0);

  @Option(
      names = {"-f", "--follow"},
      description = "Goes on until the job is over.")
  private boolean follow;

  @Option(
      names = "--offset",
      defaultValue = "0",
      description = "Begins so many bytes into the log.")
  private long offset;

  @Override
  public Integer call() throws InterruptedException {
    if (spec == null) {
      throw new IllegalStateException("not run by picocli");
    }
    PrintWriter out = spec.commandLine().getOut();
    HoldfastClient client = remote.client();
    boolean over;
    do {
      // Looked at before the log: what it said before its end must not be missed.
      over = isOver(client);
      offset = print(client, out, offset);
      if (follow && !over) {
        Thread.sleep(PAUSE_MILLIS);
      }
    } while (follow && !over);
    return 0;
  }

  private boolean isOver(HoldfastClient client) {
    return client
        .get(id)
        .orElseThrow(() -> new HoldfastException(ErrorCode.NOT_FOUND, "no job " + id))
        .state()
        .isFinished();
  }

  private long print(HoldfastClient client, PrintWriter out, long from) {
    long at = from;
    LogChunk chunk;
    do {
      chunk = client.log(id, at, LINES_AT_ONCE);
      chunk.lines().forEach(line -> out.println(line.text()));
      at = chunk.offset();
    } while (!chunk.lines().isEmpty());
    out.flush();
    return at;
  }
}
