package dev.holdfast.executor;

import static org.assertj.core.api.Assertions.assertThat;

import dev.holdfast.job.Job;
import dev.holdfast.job.JobState;
import dev.holdfast.job.NewJob;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.io.TempDir;

/** Commands, as jobs of the kind that comes with its handler. */
abstract class ProcessRig extends ExecutorTest {

  @TempDir Path directory;

  void assertRefused(Object args, String field) {
    Job job = run(NewJob.of("process", args));

    assertThat(job.state()).as("%s", args).isEqualTo(JobState.FAILED);
    assertThat(job.errorCode()).contains("INVALID_ARGUMENT");
    assertThat(job.errorMessage().orElse("")).contains(field);
  }

  Job run(NewJob job) {
    return run(ExecutorConfig.DEFAULTS, job);
  }

  NewJob script(String text) {
    return args(Map.of("argv", List.of("bash", "-c", text), "cwd", directory.toString()));
  }

  static NewJob argv(String... argv) {
    return args(Map.of("argv", List.of(argv)));
  }

  static NewJob args(Map<String, Object> args) {
    return NewJob.of("process", args);
  }
}
