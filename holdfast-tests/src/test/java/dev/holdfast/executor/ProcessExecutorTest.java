package dev.holdfast.executor;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.holdfast.error.HoldfastException;
import dev.holdfast.job.Failure;
import dev.holdfast.job.Job;
import dev.holdfast.job.JobState;
import dev.holdfast.job.NewJob;
import dev.holdfast.job.Policy.OnLeaseLost;
import dev.holdfast.job.PolicyOverrides;
import dev.holdfast.job.TimeLimit;
import dev.holdfast.worker.Worker;
import java.nio.file.Path;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HexFormat;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.UUID;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Assumptions;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class ProcessExecutorTest extends ExecutorTest {

  @TempDir Path directory;

  @Test
  void a_command_that_ends_well_has_its_exit_code_and_the_end_of_its_output_as_result() {
    Job job = run(argv("echo", "hello"));

    assertThat(job.state()).isEqualTo(JobState.SUCCEEDED);
    assertThat(result(job)).isEqualTo(Map.of("exit_code", 0, "output", "hello\n"));
    assertThat(tenant.jobs().log(job.id())).containsExactly("hello");
  }

  @Test
  void a_command_that_fails_is_tried_again_and_says_how_it_ended() {
    Job job = run(script("echo started; echo 'no disk' >&2; exit 3"));

    assertThat(job.state()).isEqualTo(JobState.QUEUED);
    assertThat(job.errorCode()).contains("EXIT_3");
    assertThat(job.errorMessage()).contains("Exit code 3: started\nno disk");
    assertThat(tenant.jobs().log(job.id())).containsExactly("started", "no disk");
  }

  @Test
  void a_command_makes_files_with_its_own_mask() throws Exception {
    Job job =
        run(
            NewJob.of(
                "process",
                Map.of(
                    "argv", List.of("sh", "-c", "umask; cat"), "umask", "027", "stdin", "heard")));

    assertThat(text(job, "output")).isEqualTo("0027\nheard");
  }

  @Test
  void another_user_is_refused_unless_the_worker_is_root_and_allows_it() {
    Map<String, Object> args = Map.of("argv", List.of("id", "-un"), "user", "nobody");

    Job refused = run(NewJob.of("process", args));

    assertThat(refused.state()).isEqualTo(JobState.FAILED);
    assertThat(refused.errorCode()).contains("USER_NOT_ALLOWED");
    assertRefused(Map.of("argv", List.of("id"), "user", "-root"), "user");
    assertRefused(Map.of("argv", List.of("id"), "umask", "999"), "umask");
  }

  @Test
  void a_command_of_another_user_has_their_rights_and_reads_its_environment_and_input() {
    Assumptions.assumeTrue("root".equals(System.getProperty("user.name")), "needs root");
    Job job =
        run(
            ExecutorConfig.DEFAULTS.withUsers(Set.of("nobody")),
            NewJob.of(
                "process",
                Map.of(
                    "argv",
                    List.of("sh", "-c", "id -un; echo \"$COLOUR\"; echo $LD_PRELOAD; cat"),
                    "user",
                    "nobody",
                    "cwd",
                    "/",
                    "env",
                    Map.of("COLOUR", "blue = 'green'\nred", "LD_PRELOAD", "/no/such/library.so"),
                    "stdin",
                    "heard")));

    assertThat(text(job, "output")).contains("nobody\n", "blue = 'green'\nred\n", "heard");
  }

  @Test
  void a_command_that_a_signal_ends_was_killed() {
    Job job = run(script("kill -9 $$"));

    assertThat(job.errorCode()).contains("KILLED");
    assertThat(job.errorMessage()).contains("Ended by signal 9");
  }

  @Test
  void a_program_that_is_not_there_fails_for_good() {
    Job nowhere = run(argv("no-such-program-anywhere"));
    Job noProgram = run(argv(directory.toString()));

    assertThat(List.of(nowhere, noProgram))
        .allSatisfy(job -> {
          assertThat(job.state()).isEqualTo(JobState.FAILED);
          assertThat(job.errorCode()).contains("COMMAND_NOT_FOUND");
        });
  }

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

  private void assertRefused(Object args, String field) {
    Job job = run(NewJob.of("process", args));

    assertThat(job.state()).as("%s", args).isEqualTo(JobState.FAILED);
    assertThat(job.errorCode()).contains("INVALID_ARGUMENT");
    assertThat(job.errorMessage().orElse("")).contains(field);
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

  @Test
  void output_may_be_any_bytes() {
    Job some = run(argv("printf", "a\\0b\\377c\\303"));
    Job many = run(script("head -c 300000 /dev/urandom"));

    assertThat(result(some).get("output")).isEqualTo("a\uFFFDb\uFFFDc\uFFFD");
    assertThat(tenant.jobs().log(some.id())).containsExactly("a\uFFFDb\uFFFDc\uFFFD");
    assertThat(many.state()).isEqualTo(JobState.SUCCEEDED);
  }

  @Test
  void every_line_of_a_talkative_command_is_kept() {
    Job job = run(argv("seq", "5000"));

    assertThat(tenant.jobs().log(job.id()))
        .isEqualTo(IntStream.rangeClosed(1, 5000).mapToObj(String::valueOf).toList());
  }

  @Test
  void a_line_that_is_too_long_goes_on_in_the_next() {
    Job job = run(script("head -c 20000 /dev/zero | tr '\\0' x; echo; echo y"));

    assertThat(tenant.jobs().log(job.id()))
        .containsExactly("x".repeat(8_000), "x".repeat(8_000), "x".repeat(4_000), "y");
  }

  @Test
  void output_without_an_end_is_cut_in_the_log_and_its_end_kept_in_the_result() {
    Job job =
        run(ExecutorConfig.DEFAULTS.withMaxOutputChars(10_000), argv("seq", "1000000", "1200000"));

    List<String> log = tenant.jobs().log(job.id());
    assertThat(log).hasSize(201); // short lines count as fifty characters
    assertThat(log.getLast()).contains("not kept").contains("10000");
    assertThat(text(job, "output")).hasSize(10 * 1024).endsWith("\n1200000\n");
  }

  @Test
  void secrets_are_in_the_environment_and_nowhere_in_what_is_told() {
    ExecutorConfig config =
        ExecutorConfig.DEFAULTS.withSecretsOf(
            Map.of(
                "HOLDFAST_SECRET_API_KEY", "k3y-of-ours",
                "HOLDFAST_SECRET_OTHER", "0ther",
                "PGPASSWORD", "unknown here"));

    Job job =
        run(
            config,
            args(
                Map.of(
                    "argv",
                    List.of(
                        "sh",
                        "-c",
                        "printf 'a '; printf k3y-; sleep 0.2; printf 'of-ours.\\n'; echo $API_KEY;"
                            + " echo $PASSWORD 0ther; echo ${OTHER:-unseen}; test ${#API_KEY} = 11;"
                            + " exit 7"),
                    "env",
                    Map.of("PASSWORD", "p4ss"),
                    "secrets",
                    List.of("API_KEY", "PASSWORD"))));

    assertThat(tenant.jobs().log(job.id())).containsExactly("a ***.", "***", "*** ***", "unseen");
    assertThat(job.errorMessage()).contains("Exit code 7: a ***.\n***\n*** ***\nunseen");
    assertThat(config.toString()).contains("API_KEY").doesNotContain("k3y");
  }

  @Test
  void whoever_stops_a_job_stops_all_of_its_processes() throws Exception {
    UUID id =
        enqueue(
            script(
                "trap '' TERM; (trap '' TERM; sleep 600 & echo $! > grandchild; wait) & echo $$ >"
                    + " leader; wait; wait"));

    try (JobExecutors executors =
            open(ExecutorConfig.DEFAULTS.withTermGrace(Duration.ofMillis(200)));
        Worker worker = executors.installOn(tenant.worker()).start()) {
      long leader = Processes.pidIn(directory.resolve("leader"));
      long grandchild = Processes.pidIn(directory.resolve("grandchild"));
      tenant.acts().stop(id, ADA);
      Processes.await(() -> tenant.job(id).state().isFinished());

      assertThat(Processes.isRunning(leader)).isFalse();
      assertThat(Processes.isRunning(grandchild)).isFalse();
    }
    assertThat(tenant.job(id).state()).isEqualTo(JobState.CANCELLED);
  }

  @Test
  void a_command_that_is_stopped_may_clean_up_and_what_it_says_is_kept() throws Exception {
    UUID id =
        enqueue(script("trap 'echo cleaning up; exit 0' TERM; echo $$ > leader; sleep 600 & wait"));

    try (JobExecutors executors = open(ExecutorConfig.DEFAULTS);
        Worker worker = executors.installOn(tenant.worker()).start()) {
      Processes.pidIn(directory.resolve("leader"));
      tenant.acts().stop(id, ADA);
      Processes.await(() -> tenant.job(id).state().isFinished());
    }

    assertThat(tenant.job(id).state()).isEqualTo(JobState.CANCELLED);
    assertThat(tenant.jobs().log(id)).containsExactly("cleaning up");
  }

  @Test
  void a_command_that_takes_too_long_is_ended() throws Exception {
    NewJob slow =
        script("echo $$ > leader; exec sleep 600")
            .withPolicy(PolicyOverrides.NONE.withTimeout(TimeLimit.of(Duration.ofSeconds(1))));

    Job job = run(slow);

    assertThat(job.state()).isEqualTo(JobState.FAILED);
    assertThat(job.errorCode()).contains(Failure.JOB_TIMEOUT);
    assertThat(Processes.isRunning(Processes.pidIn(directory.resolve("leader")))).isFalse();
  }

  @Test
  void a_command_whose_job_was_given_away_is_ended() throws Exception {
    UUID id =
        enqueue(
            script("echo $$ > leader; exec sleep 600")
                .withPolicy(PolicyOverrides.NONE.withOnLeaseLost(OnLeaseLost.FAIL)));

    try (JobExecutors executors = open(ExecutorConfig.DEFAULTS);
        Worker worker = executors.installOn(tenant.worker()).start()) {
      long leader = Processes.pidIn(directory.resolve("leader"));
      tenant.execute(
          "UPDATE {schema}.job SET lease_expires_at = {schema}.clock() - interval '1 hour'");
      reap();

      Processes.await(() -> !Processes.isRunning(leader));
    }
    assertThat(tenant.job(id).errorCode()).contains(Failure.LEASE_LOST);
  }

  @Test
  void a_command_of_a_worker_that_closes_is_ended_and_its_job_handed_back() throws Exception {
    UUID id = enqueue(script("echo $$ > leader; exec sleep 600"));

    try (JobExecutors executors = open(ExecutorConfig.DEFAULTS);
        Worker worker =
            executors
                .installOn(tenant.worker())
                .configure(config -> config.withDrainTimeout(Duration.ZERO))
                .start()) {
      Processes.pidIn(directory.resolve("leader"));
    }

    assertThat(tenant.job(id).state()).isEqualTo(JobState.QUEUED);
    assertThat(tenant.job(id).attempt()).isZero();
    assertThat(Processes.isRunning(Processes.pidIn(directory.resolve("leader")))).isFalse();
  }

  @Test
  void what_a_command_leaves_behind_ends_with_it() throws Exception {
    Job job = run(script("sleep 600 & echo $! > left; echo done"));

    assertThat(job.state()).isEqualTo(JobState.SUCCEEDED);
    assertThat(result(job).get("output")).isEqualTo("done\n");
    long left = Processes.pidIn(directory.resolve("left"));
    Processes.await(() -> !Processes.isRunning(left));
  }

  @Test
  void commands_that_run_at_once_do_not_mix() throws Exception {
    List<UUID> ids =
        IntStream.range(0, 40)
            .mapToObj(i -> enqueue(script("echo " + i + "; sleep 0.2; exec echo again " + i)))
            .toList();

    try (JobExecutors executors = open(ExecutorConfig.DEFAULTS);
        Worker worker = executors.installOn(tenant.worker()).start()) {
      Processes.await(() -> ids.stream().allMatch(id -> tenant.job(id).state().isFinished()));
    }

    for (int i = 0; i < ids.size(); i++) {
      assertThat(result(tenant.job(ids.get(i))).get("output")).isEqualTo(i + "\nagain " + i + "\n");
    }
  }

  @Test
  void a_lease_that_leaves_no_time_for_stopping_is_refused() {
    Job job =
        run(argv("true").withPolicy(PolicyOverrides.NONE.withLeaseLength(Duration.ofSeconds(24))));

    assertThat(job.state()).isEqualTo(JobState.FAILED);
    assertThat(job.errorCode()).contains("LEASE_TOO_SHORT");
    assertThat(job.errorMessage().orElse("")).contains("lease_seconds of 25.0");
  }

  @Test
  void an_executor_that_there_is_not_is_refused_by_name() {
    assertThatThrownBy(() -> JobExecutors.open(Set.of("docker"), ExecutorConfig.DEFAULTS))
        .isInstanceOf(HoldfastException.class)
        .hasMessageContaining("docker")
        .hasMessageContaining("http, process");
  }

  private Job run(NewJob job) {
    return run(ExecutorConfig.DEFAULTS, job);
  }

  private NewJob script(String text) {
    return args(Map.of("argv", List.of("bash", "-c", text), "cwd", directory.toString()));
  }

  private static NewJob argv(String... argv) {
    return args(Map.of("argv", List.of(argv)));
  }

  private static NewJob args(Map<String, Object> args) {
    return NewJob.of("process", args);
  }
}
