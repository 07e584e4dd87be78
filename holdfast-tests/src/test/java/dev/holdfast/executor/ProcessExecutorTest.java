package dev.holdfast.executor;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.holdfast.error.HoldfastException;
import dev.holdfast.job.Job;
import dev.holdfast.job.JobState;
import dev.holdfast.job.NewJob;
import dev.holdfast.job.PolicyOverrides;
import dev.holdfast.worker.Worker;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.UUID;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Assumptions;
import org.junit.jupiter.api.Test;

/** How commands run and how they end. */
class ProcessExecutorTest extends ProcessRig {

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
}
