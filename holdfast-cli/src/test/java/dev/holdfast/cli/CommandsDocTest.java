package dev.holdfast.cli;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Set;
import java.util.TreeMap;
import java.util.stream.Collectors;
import org.junit.jupiter.api.Test;
import picocli.CommandLine;
import picocli.CommandLine.Model.CommandSpec;

/** The page about commands says what there is, and every command says what it does. */
class CommandsDocTest {

  private static final Path PAGE = Path.of("../docs/cli.md");
  private static final String BEGIN =
      "<!-- From here to the end mark: drawn by CommandsDocTest. -->";
  private static final String END = "<!-- End of what is drawn. -->";

  // They run on, or say one line about a file.
  private static final Set<String> SILENT =
      Set.of("server", "agent", "generate-completion", "backup", "restore", "raise");

  @Test
  void the_page_has_every_command_and_every_exit_code() throws IOException {
    String page = Files.readString(PAGE);
    String drawn =
        page.substring(0, page.indexOf(BEGIN) + BEGIN.length())
            + "\n\n"
            + table()
            + "\n"
            + page.substring(page.indexOf(END));
    if (Boolean.getBoolean("holdfast.golden.update")) {
      Files.writeString(PAGE, drawn);
    }

    assertThat(drawn)
        .as("docs/cli.md; renew it with -Dholdfast.golden.update=true")
        .isEqualTo(Files.readString(PAGE));
  }

  @Test
  void every_command_and_option_says_in_a_sentence_what_it_does() {
    for (CommandSpec command : all()) {
      assertThat(described(command)).as(command.qualifiedName()).matches("[A-Z].*[.:]");
      command
          .options()
          .forEach(option ->
              assertThat(option.description())
                  .as(command.qualifiedName() + " " + option.longestName())
                  .isNotEmpty());
      command
          .positionalParameters()
          .forEach(parameter ->
              assertThat(parameter.description())
                  .as(command.qualifiedName() + " " + parameter.paramLabel())
                  .isNotEmpty());
    }
  }

  @Test
  void whatever_answers_something_can_answer_it_in_json() {
    assertThat(all())
        .filteredOn(command -> command.subcommands().isEmpty())
        .filteredOn(command -> !SILENT.contains(command.name()))
        .allSatisfy(command -> assertThat(command.optionsMap()).containsKey("-o"));
  }

  @Test
  void shells_complete_commands_options_and_values() {
    StringWriter out = new StringWriter();
    int code = Main.commandLine().setOut(new PrintWriter(out, true)).execute("generate-completion");

    assertThat(code).isZero();
    assertThat(out.toString()).contains("schedules", "--pool-size", "succeeded");
  }

  private static String table() {
    StringBuilder text = new StringBuilder("| command | |\n| --- | --- |\n");
    for (CommandSpec command : all()) {
      if (command.subcommands().isEmpty()) {
        text.append("| `")
            .append(command.qualifiedName())
            .append("` | ")
            .append(described(command).replace("|", "\\|"))
            .append(" |\n");
      }
    }
    text.append("\n| exit code | |\n| --- | --- |\n");
    for (Exit exit : Exit.values()) {
      text.append("| %d | %s |\n".formatted(exit.code(), exit.meaning()));
    }
    return text.toString();
  }

  private static String described(CommandSpec command) {
    return Arrays.stream(command.usageMessage().description())
        .takeWhile(line -> !line.isBlank())
        .collect(Collectors.joining(" "));
  }

  /** Every command but those that are nothing but a noun. */
  private static List<CommandSpec> all() {
    List<CommandSpec> specs = new ArrayList<>();
    for (CommandLine noun : new TreeMap<>(Main.commandLine().getSubcommands()).values()) {
      specs.add(noun.getCommandSpec());
      new TreeMap<>(noun.getSubcommands())
          .values()
          .forEach(verb -> specs.add(verb.getCommandSpec()));
    }
    return specs;
  }
}
