package dev.holdfast.executor;

import static org.assertj.core.api.Assertions.assertThat;

import dev.holdfast.job.Job;
import dev.holdfast.job.JobState;
import java.util.List;
import java.util.Map;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;

/** What a command says is kept, but for secrets and what is too much. */
class ProcessOutputTest extends ProcessRig {

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
}
