package dev.holdfast.server;

import static org.assertj.core.api.Assertions.assertThat;

import dev.holdfast.job.Job;
import dev.holdfast.job.JobState;
import dev.holdfast.job.NewJob;
import dev.holdfast.job.Payload;
import dev.holdfast.job.PolicyOverrides;
import dev.holdfast.server.auth.Role;
import dev.holdfast.testkit.TestTenant;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Optional;
import java.util.UUID;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

/** The example of a worker in another language works, and is as short as it claims. */
class PythonWorkerTest {

  private static final Path SCRIPT = Path.of("..", "examples", "python-worker", "worker.py");

  @RegisterExtension final TestTenant tenant = new TestTenant();

  @Test
  void a_worker_of_sixty_lines_runs_jobs_and_says_how_they_ended() throws Exception {
    UUID good = enqueue("{\"numbers\": [1, 2, 39]}");
    UUID bad = enqueue("{\"numbers\": \"nine\"}");
    ProcessBuilder python =
        new ProcessBuilder(
            "python3",
            SCRIPT.toString(),
            "http://127.0.0.1:" + TestServer.shared().port(),
            "sums",
            "2");
    python
        .environment()
        .put("HOLDFAST_TOKEN", TestServer.shared().token(Role.WORKER, Optional.of(tenant.name())));

    Process worker = python.redirectErrorStream(true).start();
    String said = new String(worker.getInputStream().readAllBytes(), StandardCharsets.UTF_8);

    assertThat(worker.waitFor(60, TimeUnit.SECONDS)).isTrue();
    assertThat(worker.exitValue()).as(said).isZero();
    assertThat(tenant.job(good).state()).isEqualTo(JobState.SUCCEEDED);
    assertThat(tenant.job(good).result().orElseThrow().json()).isEqualTo("{\"sum\":42}");
    assertThat(tenant.jobs().log(good)).singleElement().asString().contains("adding up");
    Job failed = tenant.job(bad);
    assertThat(failed.state()).isEqualTo(JobState.FAILED);
    assertThat(failed.errorCode()).contains("TypeError");
    assertThat(Files.readAllLines(SCRIPT)).hasSizeLessThanOrEqualTo(60);
  }

  private UUID enqueue(String args) {
    return tenant
        .jobs()
        .enqueue(
            NewJob.of("sum", new Payload(args))
                .withQueue("sums")
                .withPolicy(PolicyOverrides.NONE.withMaxAttempts(1)))
        .id();
  }
}
