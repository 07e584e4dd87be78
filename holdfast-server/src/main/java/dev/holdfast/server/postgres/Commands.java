package dev.holdfast.server.postgres;

import dev.holdfast.error.ErrorCode;
import dev.holdfast.error.HoldfastException;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * Runs PostgreSQL's programs. They refuse to run as root; root runs them in a user namespace, where
 * it is an unprivileged user and still owns its files.
 */
final class Commands {

  private static final boolean IS_ROOT = "root".equals(System.getProperty("user.name"));

  private static final Pattern MAJOR = Pattern.compile("PostgreSQL\\) (\\d+)");

  private final Path home;

  Commands(Path home) {
    this.home = home;
  }

  /** Waits for the program to end, and returns its output. */
  String run(String program, String... arguments) {
    List<String> command = new ArrayList<>();
    if (IS_ROOT) {
      command.addAll(List.of("unshare", "--user"));
    }
    command.add(home.resolve("bin").resolve(program).toString());
    command.addAll(List.of(arguments));
    try {
      // Into a file: a program's children inherit its output, and would keep a pipe open for ever.
      Path said = Files.createTempFile("holdfast", program);
      try {
        ProcessBuilder builder =
            new ProcessBuilder(command).redirectErrorStream(true).redirectOutput(said.toFile());
        keepOnly(builder.environment());
        int code = builder.start().waitFor();
        String text = Files.readString(said, StandardCharsets.UTF_8).strip();
        if (code != 0) {
          throw failed(program, text);
        }
        return text;
      } finally {
        Files.delete(said);
      }
    } catch (IOException e) {
      throw failed(program, e.getMessage() + remedy());
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw failed(program, "interrupted");
    }
  }

  // The database outlives this process, and users who can read its environment would find tokens
  // and secrets of the server there. It needs only the paths of programs and libraries, and the
  // time zone.
  private static void keepOnly(Map<String, String> environment) {
    environment.keySet().retainAll(Set.of("PATH", "HOME", "TZ", "LD_LIBRARY_PATH"));
    environment.put("LC_ALL", "C");
  }

  String majorVersion() {
    Matcher version = MAJOR.matcher(run("postgres", "--version"));
    if (!version.find()) {
      throw failed("postgres", "it does not say its version");
    }
    return version.group(1);
  }

  private static String remedy() {
    return IS_ROOT ? "; as root it needs user namespaces, or use --database-url" : "";
  }

  private static HoldfastException failed(String program, String why) {
    return new HoldfastException(ErrorCode.UNAVAILABLE, program + " failed: " + why);
  }
}
