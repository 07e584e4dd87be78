package dev.holdfast.executor;

import dev.holdfast.error.HoldfastException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;

/**
 * Starts scripts as leaders of their own session and process group, whose number is the process id.
 *
 * @param setsid the path of the program; looked up once, because a job may have another PATH
 */
record Shell(Path setsid, Path bash) {

  /** Finds the programs of this machine. */
  static Shell find() {
    String path = Optional.ofNullable(System.getenv("PATH")).orElse(Programs.USUAL_PATH);
    if (!Files.isReadable(Uptime.CLOCK)) {
      throw missing(Uptime.CLOCK.toString());
    }
    return new Shell(find("setsid", path), find("bash", path));
  }

  private static Path find(String program, String path) {
    return Programs.find(program, path, Path.of("").toAbsolutePath())
        .orElseThrow(() -> missing(program));
  }

  private static HoldfastException missing(String what) {
    return HoldfastException.badConfig(
        "executors", ProcessExecutor.NAME, "only on Linux with bash and setsid; no " + what);
  }

  /** The arguments are {@code $0} and so on for the script. */
  ProcessBuilder inOwnSession(String script, List<String> arguments) {
    // -p: the shell runs no files or functions that the environment names.
    List<String> command =
        new ArrayList<>(List.of(setsid.toString(), bash.toString(), "-p", "-c", script));
    command.addAll(arguments);
    return new ProcessBuilder(command);
  }
}
