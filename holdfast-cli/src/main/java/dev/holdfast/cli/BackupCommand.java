package dev.holdfast.cli;

import dev.holdfast.server.postgres.Backup;
import java.io.PrintWriter;
import java.nio.file.Path;
import java.util.Locale;
import java.util.concurrent.Callable;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;
import picocli.CommandLine.Spec;

/** Copies a server's own database, while it runs. */
@Command(
    name = "backup",
    description = {
      "Copies a server's own database, with its password and first token, to a directory.",
      "The server may run meanwhile. A PostgreSQL of yours is backed up by its own means."
    },
    mixinStandardHelpOptions = true)
final class BackupCommand implements Callable<Integer> {

  private static final double MEGA = 1_000_000;

  @Spec private @Nullable CommandSpec spec;

  @Parameters(paramLabel = "DIR", description = "Where to; new or empty.")
  private Path target = Path.of("");

  @Option(
      names = "--data",
      defaultValue = "${env:HOLDFAST_DATA:-holdfast-data}",
      description = "The server's data directory. Default: ${DEFAULT-VALUE}",
      paramLabel = "DIR")
  private Path data = Path.of("");

  @Override
  public Integer call() {
    long bytes = Backup.take(data, target);
    if (spec != null) {
      PrintWriter out = spec.commandLine().getOut();
      out.printf(
          Locale.ROOT,
          "%s has a backup of %s, %.1f MB. Restore it with: holdfast restore %s --data NEW_DIR%n",
          target,
          data,
          bytes / MEGA,
          target);
      out.flush();
    }
    return 0;
  }
}
