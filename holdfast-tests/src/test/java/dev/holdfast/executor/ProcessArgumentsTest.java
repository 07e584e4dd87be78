package dev.holdfast.executor;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;

import dev.holdfast.job.Job;
import dev.holdfast.job.JobState;
import java.nio.file.Path;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HexFormat;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.stream.Collectors;
import org.junit.jupiter.api.Test;

/** What a command is told arrives as it was sent, and nothing else does. */
class ProcessArgumentsTest extends ProcessRig {

  @Test
  void wrong_arguments_fail_for_good_and_are_told_by_name_without_their_values() {
    assertRefused(Map.of(), "argv");
    assertRefused(Map.of("argv", List.of()), "argv");
    assertRefused(Map.of("argv", "ls -l"), "argv");
    assertRefused(Map.of("argv", List.of("ls", 1)), "argv[1]");
    assertRefused(Map.of("argv", List.of("ls"), "comand", "x"), "comand");
    assertRefused(Map.of("argv", List.of("ls"), "env", Map.of("PORT", 80)), "env.PORT");
    assertRefused(Map.of("argv", List.of("ls"), "env", Map.of("A=B", "x")), "env");
    assertRefused(Map.of("argv", List.of("ls"), "cwd", "/no/such/place"), "cwd");
    assertRefused(Map.of("argv", List.of("ls"), "secrets", List.of("TOKEN")), "TOKEN");
    assertRefused(Map.of("argv", List.of("ls"), "shell", "yes"), "shell");
    assertRefused(Map.of("argv", List.of("ls", "-l"), "shell", true), "argv");
    assertRefused(Map.of("argv", List.of("x".repeat(140_000))), "argv");
    assertRefused(List.of("ls"), "args");
  }

  @Test
  void no_shell_looks_at_arguments_unless_it_is_asked_for() {
    Job plain = run(argv("printf", "%s", "$HOME `id` ; echo *"));
    Job option = run(argv("printf", "%s", "-c"));
    Job shell = run(args(Map.of("argv", List.of("echo $((6 * 7)) | tr 2 3"), "shell", true)));

    assertThat(result(plain).get("output")).isEqualTo("$HOME `id` ; echo *");
    assertThat(result(option).get("output")).isEqualTo("-c");
    assertThat(result(shell).get("output")).isEqualTo("43\n");
  }

  @Test
  void every_argument_arrives_as_it_was_sent() {
    List<String> nasty =
        List.of(
            "-rf",
            "--",
            "--help",
            "-c",
            "",
            " ",
            "a b",
            "\t",
            "a\nb",
            "\r\n",
            ";id",
            "|id",
            "&id&",
            "$(id)",
            "`id`",
            "${PATH}",
            "$0",
            "*",
            "?",
            "[a]",
            "~",
            "~root",
            "{a,b}",
            "!!",
            "\\",
            "'",
            "\"",
            "\"'$(id)'\"",
            "<x",
            ">x",
            "2>&1",
            "#",
            "%s%n",
            "\u0001",
            "\u001b[31m",
            "\ud83d\ude00",
            "\u202e",
            "=",
            "a=b",
            "x".repeat(100_000));
    // The shell is the command's own and gets them as they are.
    List<String> argv = new ArrayList<>(List.of("sh", "-c", "\"$@\" | sha256sum", "sh"));
    argv.addAll(List.of("printf", "%s\\0"));
    argv.addAll(nasty);

    Job job = run(args(Map.of("argv", argv)));

    assertThat(text(job, "output")).startsWith(sha256(String.join("\0", nasty) + "\0"));
  }

  private static String sha256(String text) {
    try {
      return HexFormat.of()
          .formatHex(MessageDigest.getInstance("SHA-256").digest(text.getBytes(UTF_8)));
    } catch (NoSuchAlgorithmException e) {
      throw new AssertionError(e);
    }
  }

  @Test
  void a_variable_cannot_be_called_what_would_end_its_name() {
    for (String name : List.of("", "A=B", "=")) {
      assertRefused(Map.of("argv", List.of("env"), "env", Map.of(name, "x")), "env");
    }
  }

  @Test
  void a_command_sees_little_of_our_environment() {
    Job job = run(args(Map.of("argv", List.of("env"), "env", Map.of("MINE", "1"))));

    Set<String> names =
        Arrays.stream(text(job, "output").split("\n", -1))
            .filter(line -> !line.isEmpty())
            .map(line -> line.substring(0, line.indexOf('=')))
            .collect(Collectors.toSet());
    assertThat(names).contains("PATH", "MINE", "HOLDFAST_JOB_ID", "HOLDFAST_ATTEMPT");
    names.removeAll(Set.of("PATH", "HOME", "LANG", "TZ", "MINE"));
    names.removeAll(Set.of("HOLDFAST_JOB_ID", "HOLDFAST_ATTEMPT", "HOLDFAST_FENCE"));
    assertThat(names).isSubsetOf("PWD", "OLDPWD", "SHLVL", "_"); // a shell's own
    assertThat(text(job, "output"))
        .contains("HOLDFAST_JOB_ID=" + job.id())
        .contains("HOLDFAST_FENCE=" + job.fence());
  }

  @Test
  void what_the_environment_names_does_not_run_before_the_command_is_watched() {
    Job job =
        run(
            args(
                Map.of(
                    "argv",
                    List.of("echo", "done"),
                    "env",
                    Map.of(
                        "BASH_ENV", "/dev/stdin",
                        "BASH_FUNC_read%%", "() { echo unwatched; }",
                        "BASH_FUNC_exec%%", "() { echo unwatched; }"))));

    assertThat(result(job).get("output")).isEqualTo("done\n");
  }

  @Test
  void a_command_runs_where_it_is_told_to_and_reads_what_it_is_told() {
    String text = "größer\n".repeat(20_000); // more than a pipe holds

    Job where = run(args(Map.of("argv", List.of("pwd", "-P"), "cwd", directory.toString())));
    Job reads = run(args(Map.of("argv", List.of("wc", "-c"), "stdin", text)));
    Job ignores = run(args(Map.of("argv", List.of("true"), "stdin", text)));
    Job nothing = run(argv("cat"));

    assertThat(Path.of(text(where, "output").strip())).isEqualTo(directory.toAbsolutePath());
    assertThat(text(reads, "output").strip()).isEqualTo("180000");
    assertThat(ignores.state()).isEqualTo(JobState.SUCCEEDED);
    assertThat(nothing.state()).isEqualTo(JobState.SUCCEEDED);
  }
}
