package dev.holdfast.cli;

import java.io.PrintWriter;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.Set;
import java.util.function.Predicate;
import java.util.stream.Stream;
import picocli.CommandLine;
import picocli.CommandLine.Command;
import picocli.CommandLine.IVersionProvider;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.UnmatchedArgumentException;

/** The {@code holdfast} command. */
@Command(
    name = "holdfast",
    description = "Durable job execution for Java and PostgreSQL.",
    mixinStandardHelpOptions = true,
    versionProvider = Main.Version.class,
    subcommands = {
      ServerCommand.class,
      AgentCommand.class,
      RunCommand.class,
      DemoCommand.class,
      MigrateCommand.class,
      BackupCommand.class,
      RestoreCommand.class,
      FencesCommand.class,
      DoctorCommand.class,
      picocli.AutoComplete.GenerateCompletion.class
    },
    footer = {
      "",
      "In the source tree, ./holdfast also runs:",
      "  bench   Measures Holdfast beside raw SQL on a PostgreSQL of its own.",
      "  prove   Puts its promises to the test, for longer than its tests do.",
      "",
      "Completion for bash and zsh: source <(holdfast generate-completion)"
    })
final class Main implements Runnable {

  private static final Map<String, String> NOUNS =
      Map.ofEntries(
          Map.entry("jobs", "Jobs: what there is, why they wait, and what to do about them."),
          Map.entry("queues", "Queues: limits, defaults, pauses."),
          Map.entry("resources", "Resources that jobs need: who has them, who waits."),
          Map.entry("schedules", "Schedules, and what became of their slots."),
          Map.entry("workers", "Workers that are there."),
          Map.entry("kinds", "Kinds of jobs that are more than a name."),
          Map.entry("nodes", "Machines that jobs are run on."),
          Map.entry("subjects", "What jobs work on."),
          Map.entry("settings", "Settings that are in force at once."),
          Map.entry("pull-secret", "What workers that pull sign their requests with."),
          Map.entry("webhooks", "Who is told about what."),
          Map.entry("tenants", "Tenants."),
          Map.entry("tokens", "Tokens: who may ask for what."),
          Map.entry("audit", "What people did."),
          Map.entry("invariants", "What must never be."));

  public static void main(String[] args) {
    Logging.prepare();
    System.exit(run(args));
  }

  static int run(String... args) {
    String first = args.length == 0 ? "" : args[0];
    boolean isNoun = Verbs.all().stream().anyMatch(verb -> verb.words().getFirst().equals(first));
    // Creating all commands takes longer than running one.
    return commandLine(isNoun ? first::equals : noun -> true).execute(args);
  }

  static CommandLine commandLine() {
    return commandLine(noun -> true);
  }

  private static CommandLine commandLine(Predicate<String> wanted) {
    CommandLine main = new CommandLine(new Main());
    for (Verb verb : Verbs.all()) {
      if (wanted.test(verb.words().getFirst())) {
        parent(main, verb).addSubcommand(VerbCommand.of(verb));
      }
    }
    Optional.ofNullable(main.getSubcommands().get("jobs"))
        .ifPresent(jobs -> {
          jobs.addSubcommand(new LogsCommand());
          jobs.addSubcommand(new WaitCommand());
        });
    List<String> exits = new ArrayList<>(List.of("", "Exit codes:"));
    Exit.table().forEach(line -> exits.add("  " + line));
    var usage = main.getCommandSpec().usageMessage();
    usage.footer(
        Stream.concat(Arrays.stream(usage.footer()), exits.stream()).toArray(String[]::new));
    main.setExpandAtFiles(false); // a word of a job's command may begin with @
    return main.setParameterExceptionHandler(Main::misunderstood)
        .setExecutionExceptionHandler((error, command, parsed) -> {
          command.getErr().println("holdfast: " + Explanation.of(error));
          return Exit.of(error).code();
        });
  }

  // Does not print the whole help, which would hide the error.
  private static int misunderstood(ParameterException error, String[] arguments) {
    CommandLine command = error.getCommandLine();
    PrintWriter err = command.getErr();
    if (error instanceof UnmatchedArgumentException unmatched) {
      String word = unmatched.getUnmatched().getFirst();
      boolean isOption = word.startsWith("-");
      Set<String> known =
          isOption
              ? command.getCommandSpec().optionsMap().keySet()
              : command.getSubcommands().keySet();
      String what = isOption ? "option" : known.isEmpty() ? "place for" : "command";
      String meant =
          isOption
              ? Nearest.hint(word, known)
              : Nearest.to(word, known)
                  .map(name -> " Did you mean '%s %s'?".formatted(nameOf(command), name))
                  .orElse("");
      err.println("holdfast: no %s %s here.%s".formatted(what, word, meant));
    } else if (!command.getSubcommands().isEmpty()) { // a noun without a verb
      command.usage(err);
      return Exit.USAGE.code();
    } else {
      err.println("holdfast: " + error.getMessage());
    }
    err.println("Try '" + nameOf(command) + " --help'.");
    return Exit.USAGE.code();
  }

  private static String nameOf(CommandLine command) {
    return command.getCommandSpec().qualifiedName();
  }

  private static CommandLine parent(CommandLine main, Verb verb) {
    if (verb.words().size() == 1) {
      return main;
    }
    String noun = verb.words().getFirst();
    CommandLine known = main.getSubcommands().get(noun);
    if (known != null) {
      return known;
    }
    CommandSpec spec = CommandSpec.create().name(noun).mixinStandardHelpOptions(true);
    spec.usageMessage().description(NOUNS.getOrDefault(noun, ""));
    main.addSubcommand(noun, spec);
    return Objects.requireNonNull(main.getSubcommands().get(noun));
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
