package dev.holdfast.cli;

import dev.holdfast.server.postgres.Restore;
import dev.holdfast.tenant.TenantName;
import java.io.PrintWriter;
import java.nio.file.Path;
import java.util.Map;
import java.util.concurrent.Callable;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;
import picocli.CommandLine.Spec;

/** Creates a data directory from a backup. */
@Command(
    name = "restore",
    description = {
      "Makes a data directory from a backup, and raises its fences, so that a worker who was given",
      "something after the backup cannot report on it.",
      "Stop the old server first. What happened after the backup is not there: see"
          + " docs/operations.md."
    },
    mixinStandardHelpOptions = true)
final class RestoreCommand implements Callable<Integer> {

  @Spec private @Nullable CommandSpec spec;

  @Parameters(paramLabel = "DIR", description = "Where the backup is.")
  private Path backup = Path.of("");

  @Option(
      names = "--data",
      required = true,
      description = "The data directory to make; new or empty.",
      paramLabel = "DIR")
  private Path data = Path.of("");

  @Override
  public Integer call() {
    Map<TenantName, Long> fences = Restore.from(backup, data);
    if (spec != null) {
      PrintWriter out = spec.commandLine().getOut();
      fences.forEach((tenant, fence) -> out.println(FencesCommand.line(tenant, fence)));
      out.printf("Restored. Serve it with: holdfast server --data %s%n", data);
      out.flush();
    }
    return 0;
  }
}
