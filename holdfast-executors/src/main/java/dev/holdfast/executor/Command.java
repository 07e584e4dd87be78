package dev.holdfast.executor;

import dev.holdfast.worker.JobContext;
import java.nio.file.Path;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/**
 * A program about to be run, with all that it gets to see. Not a record: those show their values.
 */
final class Command {

  // Of our own environment a command sees these and nothing else: the rest may hold passwords.
  private static final List<String> PASSED_ON = List.of("PATH", "HOME", "LANG", "TZ");

  private final ProcessArgs args;
  private final Map<String, String> environment;
  private final List<String> hidden;

  private Command(ProcessArgs args, Map<String, String> environment, List<String> hidden) {
    this.args = args;
    this.environment = environment;
    this.hidden = hidden;
  }

  static Command of(ProcessArgs args, Secrets secrets, JobContext job) {
    Map<String, String> named = secrets.named(args.secrets(), args.env());
    Map<String, String> environment = new HashMap<>(Map.of("PATH", Programs.USUAL_PATH));
    for (String name : PASSED_ON) {
      Optional.ofNullable(System.getenv(name)).ifPresent(value -> environment.put(name, value));
    }
    environment.putAll(named);
    environment.putAll(args.env());
    environment.put("HOLDFAST_JOB_ID", job.jobId().toString());
    environment.put("HOLDFAST_ATTEMPT", String.valueOf(job.attempt()));
    environment.put("HOLDFAST_FENCE", String.valueOf(job.fence()));
    job.trace()
        .ifPresent(trace -> {
          environment.putIfAbsent("TRACEPARENT", trace.parent());
          trace.state().ifPresent(state -> environment.putIfAbsent("TRACESTATE", state));
        });
    return new Command(args, environment, secrets.toHide(named));
  }

  /** The program's file; empty when there is none that could be run. */
  Optional<Path> program() {
    return Programs.find(
        args.argv().getFirst(), environment.getOrDefault("PATH", Programs.USUAL_PATH), args.cwd());
  }

  String name() {
    return args.argv().getFirst();
  }

  List<String> argv() {
    return args.argv();
  }

  Path directory() {
    return args.cwd();
  }

  Map<String, String> environment() {
    return environment;
  }

  Optional<String> stdin() {
    return args.stdin();
  }

  /** What must not be seen in its output. */
  List<String> hidden() {
    return hidden;
  }
}
