package dev.holdfast.cli;

import dev.holdfast.error.HoldfastException;
import java.util.Map;
import java.util.Objects;
import picocli.CommandLine;
import picocli.CommandLine.Command;
import picocli.CommandLine.IVersionProvider;
import picocli.CommandLine.Model.CommandSpec;

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
      "Exit codes: 0 done; 1 it went wrong; 2 wrong usage; 3 no answer from the server; 4 not"
          + " allowed;",
      "5 not found; 6 not in its present state; 7 refused, and the message says which value."
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
          Map.entry("webhooks", "Who is told about what."),
          Map.entry("tenants", "Tenants."),
          Map.entry("tokens", "Tokens: who may ask for what."),
          Map.entry("audit", "What people did."),
          Map.entry("invariants", "What must never be."));

  public static void main(String[] args) {
    System.exit(commandLine().execute(args));
  }

  static CommandLine commandLine() {
    CommandLine main = new CommandLine(new Main());
    for (Verb verb : Verbs.all()) {
      parent(main, verb).addSubcommand(VerbCommand.of(verb));
    }
    CommandLine jobs = Objects.requireNonNull(main.getSubcommands().get("jobs"));
    jobs.addSubcommand(new LogsCommand());
    jobs.addSubcommand(new WaitCommand());
    return main.setExecutionExceptionHandler((error, command, parsed) -> {
      command.getErr().println("holdfast: " + explained(error));
      return exitCode(error);
    });
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

  private static int exitCode(Exception error) {
    return error instanceof HoldfastException failure
        ? switch (failure.code()) {
          case UNAVAILABLE, DATABASE -> 3;
          case FORBIDDEN -> 4;
          case NOT_FOUND -> 5;
          case STATE_CONFLICT, LEASE_LOST -> 6;
          case INVALID_ARGUMENT, BAD_PAYLOAD -> 7;
          case BAD_CONFIG, UNKNOWN_KIND, SCHEMA_MISMATCH -> 1;
        }
        : 1;
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
