package dev.holdfast.cli;

import dev.holdfast.api.HoldfastClient;
import dev.holdfast.error.HoldfastException;
import java.util.Locale;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;

/** Options that name the server, the caller and the output format, the same for all commands. */
final class Remote {

  /** The format of the output. */
  enum Output {
    TABLE,
    JSON;

    static Output of(String name) {
      return switch (name.toLowerCase(Locale.ROOT)) {
        case "table" -> TABLE;
        case "json" -> JSON;
        default -> throw HoldfastException.badConfig("-o", name, "table, json");
      };
    }
  }

  @Mixin private Connection connection = new Connection();

  @Option(
      names = {"-o", "--output"},
      defaultValue = "table",
      description = "table, for people, or json. Default: ${DEFAULT-VALUE}",
      paramLabel = "FORMAT")
  private String output = "";

  Output output() {
    return Output.of(output);
  }

  HoldfastClient client() {
    return connection.client();
  }
}
