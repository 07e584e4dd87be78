package dev.holdfast.cli;

import picocli.CommandLine;
import picocli.CommandLine.Command;
import picocli.CommandLine.IVersionProvider;

/** The {@code holdfast} command. */
@Command(
    name = "holdfast",
    description = "Durable job execution for Java and PostgreSQL.",
    mixinStandardHelpOptions = true,
    versionProvider = Main.Version.class,
    footer = {
      "",
      "In the source tree, ./holdfast also runs:",
      "  bench   Measures Holdfast.",
      "  prove   Proves its promises under load and failure."
    })
final class Main implements Runnable {

  public static void main(String[] args) {
    System.exit(new CommandLine(new Main()).execute(args));
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
