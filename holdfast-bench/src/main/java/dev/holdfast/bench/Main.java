package dev.holdfast.bench;

import picocli.CommandLine;
import picocli.CommandLine.Command;

/** The commands {@code bench} and {@code prove} of {@code ./holdfast}. */
@Command(
    name = "holdfast",
    description = "Measures Holdfast, and proves its promises under load and failure.",
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

  @Command(description = "Proves the promises of Holdfast under load and failure.")
  void prove() {
    run();
  }
}
