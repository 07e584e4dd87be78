package dev.holdfast.cli;

import dev.holdfast.error.HoldfastException;
import picocli.CommandLine;
import picocli.CommandLine.Command;
import picocli.CommandLine.IVersionProvider;

/** The {@code holdfast} command. */
@Command(
    name = "holdfast",
    description = "Durable job execution for Java and PostgreSQL.",
    mixinStandardHelpOptions = true,
    versionProvider = Main.Version.class,
    subcommands = {MigrateCommand.class, ServerCommand.class},
    footer = {
      "",
      "In the source tree, ./holdfast also runs:",
      "  bench   Measures Holdfast beside raw SQL on a PostgreSQL of its own."
    })
final class Main implements Runnable {

  public static void main(String[] args) {
    System.exit(commandLine().execute(args));
  }

  static CommandLine commandLine() {
    return new CommandLine(new Main())
        .setExecutionExceptionHandler((error, command, parsed) -> {
          command.getErr().println("holdfast: " + explained(error));
          return 1;
        });
  }

  // People get a sentence; a stack trace would hide it.
  private static String explained(Exception error) {
    Throwable cause = error;
    while (cause.getCause() != null && !(cause instanceof HoldfastException)) {
      cause = cause.getCause();
    }
    return String.valueOf(cause.getMessage());
  }

  @Override
  public void run() {
    CommandLine.usage(this, System.out);
  }

  static final class Version implements IVersionProvider {
    @Override
    public String[] getVersion() {
      String version = Main.class.getPackage().getImplementationVersion();
      return new String[] {"holdfast " + (version == null ? "(unpackaged)" : version)};
    }
  }
}
