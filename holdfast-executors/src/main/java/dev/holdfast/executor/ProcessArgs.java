package dev.holdfast.executor;

import dev.holdfast.error.HoldfastException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.InvalidPathException;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/**
 * The arguments of a job of kind {@code process}.
 *
 * @param argv the program and its arguments, not interpreted by a shell
 * @param cwd an existing directory
 * @param env variables in addition to the few that every command gets
 * @param secrets names of variables in {@code env}, or of configured secrets, which then become
 *     variables, too
 * @param umask in octal; default: the worker's own
 * @param user the user that it runs as; default: the worker's own
 */
record ProcessArgs(
    List<String> argv,
    Path cwd,
    Map<String, String> env,
    Optional<String> stdin,
    List<String> secrets,
    Optional<String> umask,
    Optional<String> user) {

  private static final Set<String> FIELDS =
      Set.of("argv", "cwd", "env", "stdin", "secrets", "shell", "umask", "user");

  private static final Pattern UMASK = Pattern.compile("0?[0-7]{1,3}");
  private static final Pattern USER = Pattern.compile("[A-Za-z_][A-Za-z0-9_.-]{0,31}");
  // For another user, a shell sets the variables, and it can set no others.
  private static final Pattern VARIABLE = Pattern.compile("[A-Za-z_][A-Za-z0-9_]*");

  // The limit of Linux for one argument or variable, including the NUL at its end.
  private static final int MAX_ARGUMENT_BYTES = 128 * 1024 - 1;

  static ProcessArgs read(@Nullable Object json) {
    Arguments args = new Arguments(json, FIELDS);
    Optional<String> user = matching(args, "user", USER, "a user's name");
    Map<String, String> env = env(args.textByName("env"));
    if (user.isPresent() && !env.keySet().stream().allMatch(VARIABLE.asMatchPredicate())) {
      throw HoldfastException.invalid("env", env.keySet(), "letters, digits and _, with user");
    }
    return new ProcessArgs(
        argv(args),
        cwd(args.text("cwd").orElse("")),
        env,
        args.text("stdin"),
        args.texts("secrets"),
        matching(args, "umask", UMASK, "three octal digits, like 027"),
        user);
  }

  private static Optional<String> matching(
      Arguments args, String field, Pattern pattern, String allowed) {
    Optional<String> text = args.text(field);
    text.ifPresent(given -> {
      if (!pattern.matcher(given).matches()) {
        throw HoldfastException.invalid(field, given, allowed);
      }
    });
    return text;
  }

  private static List<String> argv(Arguments args) {
    List<String> argv = args.texts("argv");
    if (argv.isEmpty() || argv.getFirst().isEmpty()) {
      throw HoldfastException.invalid("argv", argv.size() + " strings", "a program and arguments");
    }
    argv.forEach(argument -> checkSize("argv", argument));
    if (!args.flag("shell")) {
      return argv;
    }
    if (argv.size() > 1) {
      throw HoldfastException.invalid(
          "argv", argv.size() + " strings", "one, for the shell that was asked for");
    }
    return List.of("/bin/sh", "-c", argv.getFirst());
  }

  private static Path cwd(String directory) {
    try {
      Path path = Path.of(directory).toAbsolutePath();
      if (Files.isDirectory(path)) {
        return path;
      }
    } catch (InvalidPathException e) {
      // it is no directory, either
    }
    throw HoldfastException.invalid("cwd", directory, "a directory that there is");
  }

  private static Map<String, String> env(Map<String, String> env) {
    env.forEach((name, value) -> {
      if (name.isEmpty() || name.indexOf('=') >= 0 || name.indexOf('\0') >= 0) {
        throw HoldfastException.invalid("env", name, "names of variables");
      }
      checkSize("env." + name, name + "=" + value);
    });
    return env;
  }

  private static void checkSize(String field, String text) {
    if (text.getBytes(StandardCharsets.UTF_8).length > MAX_ARGUMENT_BYTES) {
      throw HoldfastException.invalid(
          field, text.length() + " characters", "at most " + MAX_ARGUMENT_BYTES + " bytes each");
    }
  }
}
