package dev.holdfast.bench;

import picocli.CommandLine;
import picocli.CommandLine.Command;

/** The command {@code bench} of {@code ./holdfast}. */
@Command(
    name = "holdfast",
    description = "Measures Holdfast.",
    mixinStandardHelpOptions = true,
    subcommands = {BenchCommand.class, DrainOnceCommand.class, FleetCommand.class})
final class Main implements Runnable {

  public static void main(String[] args) {
    System.exit(
        new CommandLine(new Main()).setCaseInsensitiveEnumValuesAllowed(true).execute(args));
  }

  @Override
  public void run() {
    CommandLine.usage(this, System.out);
  }
}
