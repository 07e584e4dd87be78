package dev.holdfast.cli;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.lang.reflect.AnnotatedElement;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Objects;
import java.util.Optional;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import org.junit.jupiter.api.Test;
import picocli.CommandLine;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Model.OptionSpec;
import picocli.CommandLine.Option;

/**
 * Draws docs/configuration.md from the flags themselves. With the system property {@code
 * holdfast.golden.update} it is written anew.
 */
class ConfigurationDocTest {

  private static final Path DOC = Path.of("../docs/configuration.md");

  // Those that are set once, on machines; the rest of the commands share the options of `jobs
  // list`.
  private static final List<List<String>> COMMANDS =
      List.of(
          List.of("server"),
          List.of("agent"),
          List.of("jobs", "list"),
          List.of("migrate"),
          List.of("backup"),
          List.of("restore"),
          List.of("fences", "raise"),
          List.of("doctor"));

  private static final Pattern VARIABLES = Pattern.compile("\\$\\{env:(\\w+)");
  private static final Pattern LAST_DEFAULT = Pattern.compile(":-([^${}]*)}*$");

  @Test
  void the_reference_has_every_flag_and_its_variable() throws IOException {
    String drawn = reference();
    if (Boolean.getBoolean("holdfast.golden.update")) {
      Files.writeString(DOC, drawn);
    }

    assertThat(Files.readString(DOC))
        .as("docs/configuration.md; renew it with -Dholdfast.golden.update=true")
        .isEqualTo(drawn);
  }

  @Test
  void every_flag_of_the_server_has_a_variable_of_its_own() {
    for (OptionSpec option : options(command(List.of("server")))) {
      assertThat(variables(option))
          .as(option.longestName())
          .contains(
              "HOLDFAST_"
                  + option
                      .longestName()
                      .substring(2)
                      .toUpperCase(java.util.Locale.ROOT)
                      .replace('-', '_'));
    }
  }

  private static String reference() {
    StringBuilder doc =
        new StringBuilder(
            """
            # Configuration

            The flags of the commands that run a server or an agent or look after a database, what they mean, and the environment variable that says the same. A flag
            wins over its variable. Wrong values stop the start and name the flag and what is allowed. `jobs list` stands for the commands that ask a server:
            they share its last four flags, and `--help` has their others. This page is drawn by `ConfigurationDocTest` from the flags of Holdfast %s.
            """
                .formatted(System.getProperty("holdfast.version")));
    for (List<String> words : COMMANDS) {
      doc.append("\n## `holdfast ").append(String.join(" ", words)).append("`\n\n");
      CommandSpec spec = command(words);
      doc.append(String.join(" ", spec.usageMessage().description())).append("\n\n");
      doc.append("| flag | variable | default | |\n| --- | --- | --- | --- |\n");
      options(spec).forEach(option -> doc.append(line(option)));
    }
    return doc.append(
            """

            The settings of a tenant (`LEASE_SEC_DEFAULT`, `MAX_ATTEMPTS_DEFAULT`, …) are seeded from variables of the same names at the first start; [server.md](server.md) has
            them. `SHUTDOWN_GRACE_PERIOD_SECONDS` (300) is how long workers drain, `HOLDFAST_SECRET_…` are secrets for jobs ([executors.md](executors.md)), `HOLDFAST_TOKEN` is the
            token of commands, `HOLDFAST_JAVA_OPTS` goes to Java, and `WORKER_ID` names an agent with `--dialect agents` that has no `--name` ([agents.md](agents.md)).
            """)
        .toString();
  }

  private static String line(OptionSpec option) {
    return "| `%s` | %s | %s | %s |%n"
        .formatted(
            String.join("`, `", option.names()),
            variables(option).stream()
                .map(name -> "`" + name + "`")
                .collect(Collectors.joining(", ")),
            defaultOf(option).map(value -> "`" + value + "`").orElse(""),
            String.join(" ", option.description())
                .replaceAll("\\s*Default: \\$\\{DEFAULT-VALUE}\\.?", "")
                .replace("$$", "$")
                .replace("|", "\\|"));
  }

  private static List<String> variables(OptionSpec option) {
    return VARIABLES.matcher(said(option)).results().map(found -> found.group(1)).toList();
  }

  private static Optional<String> defaultOf(OptionSpec option) {
    String said = said(option);
    Matcher last = LAST_DEFAULT.matcher(said);
    String value = said.startsWith("${env:") ? (last.find() ? last.group(1) : "") : said;
    return Optional.of(value).filter(text -> !text.isBlank());
  }

  // As it is written: picocli's own answer has the variables of whoever runs the test put in.
  private static String said(OptionSpec option) {
    if (option.userObject() instanceof AnnotatedElement written) {
      Option annotation = written.getAnnotation(Option.class);
      if (annotation != null && !annotation.defaultValue().startsWith("_")) { // not said
        return annotation.defaultValue();
      }
    }
    return "";
  }

  private static List<OptionSpec> options(CommandSpec spec) {
    return spec.options().stream()
        .filter(option -> !option.usageHelp() && !option.versionHelp())
        .toList();
  }

  private static CommandSpec command(List<String> words) {
    CommandLine command = Main.commandLine();
    for (String word : words) {
      command = Objects.requireNonNull(command.getSubcommands().get(word), word);
    }
    return command.getCommandSpec();
  }
}
