package dev.holdfast.worker;

import static org.assertj.core.api.Assertions.assertThat;

import dev.holdfast.job.JobState;
import dev.holdfast.job.Kind;
import dev.holdfast.testkit.Covers;
import dev.holdfast.testkit.TestTenant;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.UUID;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

@Covers("A1")
class AtLeastOnceTest {

  private static final Kind<String> EMAIL = Kind.of("email", String.class);

  /** What a handler was told about its attempt. */
  private record Seen(UUID jobId, int attempt, long fence) {}

  @RegisterExtension final TestTenant tenant = new TestTenant();

  @Test
  void a_job_whose_worker_died_before_reporting_runs_again_and_its_handler_can_tell() {
    List<Seen> seen = new ArrayList<>();
    Handler.Simple<String> handler =
        (to, job) -> {
          seen.add(new Seen(job.jobId(), job.attempt(), job.fence()));
          if (job.attempt() == 1) {
            reapAfterSilence(job.jobId()); // the work is done, and nobody was told
          }
        };
    UUID id = tenant.jobs().enqueue(EMAIL.job("ada")).id();

    tenant.worker().handle(EMAIL, handler).build().runDue();
    tenant.worker().handle(EMAIL, handler).build().runDue();

    assertThat(seen).hasSize(2);
    assertThat(seen).extracting(Seen::jobId).containsOnly(id);
    assertThat(seen).extracting(Seen::attempt).containsExactly(1, 2);
    assertThat(seen.get(1).fence()).isGreaterThan(seen.get(0).fence());
    assertThat(tenant.job(id).state()).isEqualTo(JobState.SUCCEEDED);
    assertThat(tenant.jobs().attempts(id))
        .extracting(attempt -> attempt.outcome())
        .containsExactly("lost", "succeeded");
  }

  @Test
  void a_committed_job_is_there_for_any_worker_that_comes_later() {
    UUID id = tenant.jobs().enqueue(EMAIL.job("ada")).id();

    tenant.worker().handle(EMAIL, (to, job) -> {}).build().runDue();

    assertThat(tenant.job(id).state()).isEqualTo(JobState.SUCCEEDED);
  }

  // The worker that runs the handler is not dead in truth, and may beat in between.
  private void reapAfterSilence(UUID id) {
    do {
      tenant.advance(Duration.ofMinutes(1));
      tenant.reap();
    } while (tenant.job(id).state().isLeased());
  }
}
