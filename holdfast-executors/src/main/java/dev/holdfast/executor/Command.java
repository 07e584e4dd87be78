package dev.holdfast.executor;

import dev.holdfast.worker.JobContext;
import java.nio.file.Path;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/**
 * A program to run, with everything it gets to see. Not a record, because records show their
 * values.
 */
final class Command {

  // Commands see only these variables of our own environment; the rest may contain passwords.
  private static final List<String> PASSED_ON = List.of("PATH", "HOME", "LANG", "TZ");

  private final List<String> argv;
  private final Path directory;
  private final Map<String, String> environment;
  private final List<String> hidden;
  private final Optional<String> stdin;
  private final Optional<String> umask;
  private final Optional<String> user;

  private Command(
      List<String> argv,
      Path directory,
      Map<String, String> environment,
      List<String> hidden,
      Optional<String> stdin,
      Optional<String> umask,
      Optional<String> user) {
    this.argv = List.copyOf(argv);
    this.directory = directory;
    this.environment = environment;
    this.hidden = hidden;
    this.stdin = stdin;
    this.umask = umask;
    this.user = user;
  }

  static Command of(ProcessArgs args, Secrets secrets, JobContext job) {
    Map<String, String> named = secrets.named(args.secrets(), args.env());
    Map<String, String> environment = environment(job);
    if (args.user().isPresent()) {
      environment.remove("HOME"); // not the other user's
    }
    environment.putAll(named);
    environment.putAll(args.env());
    environment.putAll(ofJob(job));
    return new Command(
        args.argv(),
        args.cwd(),
        environment,
        secrets.toHide(named),
        args.stdin(),
        args.umask(),
        args.user());
  }

  /**
   * A program that an executor chooses.
   *
   * @param more variables in addition to those that every command gets
   * @param hidden values that must not appear in its output
   */
  static Command of(
      List<String> argv,
      Path directory,
      Map<String, String> more,
      List<String> hidden,
      JobContext job) {
    Map<String, String> environment = environment(job);
    environment.putAll(more);
    return new Command(
        argv, directory, environment, hidden, Optional.empty(), Optional.empty(), Optional.empty());
  }

  private static Map<String, String> environment(JobContext job) {
    Map<String, String> environment = new HashMap<>(Map.of("PATH", Programs.USUAL_PATH));
    for (String name : PASSED_ON) {
      Optional.ofNullable(System.getenv(name)).ifPresent(value -> environment.put(name, value));
    }
    environment.putAll(ofJob(job));
    return environment;
  }

  /** The variables that everything that runs for a job gets. */
  static Map<String, String> ofJob(JobContext job) {
    Map<String, String> told = new HashMap<>();
    told.put("HOLDFAST_JOB_ID", job.jobId().toString());
    told.put("HOLDFAST_ATTEMPT", String.valueOf(job.attempt()));
    told.put("HOLDFAST_FENCE", String.valueOf(job.fence()));
    job.trace()
        .ifPresent(trace -> {
          told.put("TRACEPARENT", trace.parent());
          trace.state().ifPresent(state -> told.put("TRACESTATE", state));
        });
    return told;
  }

  /** The program's file; empty when there is no executable one. */
  Optional<Path> program() {
    return Programs.find(
        argv.getFirst(), environment.getOrDefault("PATH", Programs.USUAL_PATH), directory);
  }

  String name() {
    return argv.getFirst();
  }

  List<String> argv() {
    return argv;
  }

  Path directory() {
    return directory;
  }

  Map<String, String> environment() {
    return environment;
  }

  Optional<String> stdin() {
    return stdin;
  }

  Optional<String> umask() {
    return umask;
  }

  Optional<String> user() {
    return user;
  }

  /** Values that must not appear in its output. */
  List<String> hidden() {
    return hidden;
  }
}
