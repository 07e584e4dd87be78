package dev.holdfast.worker;

import static org.assertj.core.api.Assertions.assertThat;

import dev.holdfast.job.Item;
import dev.holdfast.job.Job;
import dev.holdfast.job.JobState;
import dev.holdfast.job.Payload;
import dev.holdfast.job.PolicyOverrides;
import dev.holdfast.job.Progress;
import dev.holdfast.testkit.Covers;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.UUID;
import org.junit.jupiter.api.Test;

/** What a handler says of its work while it goes on. */
class HandlerReportsTest extends EmailRig {

  @Covers("E6")
  @Test
  void a_handler_that_brought_the_results_its_job_is_for_is_told_to_stop_and_need_not_succeed() {
    List<Boolean> stop = new ArrayList<>();
    Worker worker =
        tenant
            .worker()
            .handle(
                EMAIL,
                (email, job) -> {
                  job.items(List.of(new Item("a", Payload.NULL)));
                  stop.add(job.shouldStop());
                  job.items(List.of(new Item("b", Payload.NULL)));
                  stop.add(job.shouldStop());
                  job.items(List.of(new Item("c", Payload.NULL)));
                  stop.add(job.shouldStop());
                })
            .build();
    UUID id =
        tenant
            .jobs()
            .enqueue(
                EMAIL.job(new Email("ada")).withPolicy(PolicyOverrides.NONE.withTargetCount(2)))
            .id();

    worker.runDue();

    assertThat(stop).containsExactly(false, true);
    assertThat(tenant.job(id).state()).isEqualTo(JobState.SUCCEEDED);
    assertThat(tenant.jobs().items(id, 10)).extracting(Item::key).containsExactly("a", "b");
    assertThat(tenant.jobs().attempts(id)).hasSize(1);
  }

  @Covers("E6")
  @Test
  void a_handler_that_reports_the_result_count_its_job_is_for_need_not_succeed_either() {
    List<Boolean> stop = new ArrayList<>();
    Worker worker =
        tenant
            .worker()
            .handle(
                EMAIL,
                (email, job) -> {
                  for (int count = 1; count <= 2; count++) {
                    job.progress(Progress.NONE.withResultCount(count));
                    boolean unused = job.flush();
                    stop.add(job.shouldStop());
                  }
                })
            .build();
    UUID id =
        tenant
            .jobs()
            .enqueue(
                EMAIL.job(new Email("ada")).withPolicy(PolicyOverrides.NONE.withTargetCount(2)))
            .id();

    worker.runDue();

    assertThat(stop).containsExactly(false, true);
    assertThat(tenant.job(id).state()).isEqualTo(JobState.SUCCEEDED);
  }

  @Test
  void the_next_attempt_learns_how_far_the_last_one_came() {
    List<Progress> came = new ArrayList<>();
    Worker worker =
        tenant
            .worker()
            .handle(
                EMAIL,
                (email, job) -> {
                  came.add(job.lastProgress());
                  job.progress(Progress.NONE.withProgressCount(5).withMessage("half"));
                  if (job.attempt() == 1) {
                    throw new IllegalStateException("again");
                  }
                })
            .build();
    UUID unused = enqueue("ada");

    worker.runDue();
    tenant.advance(Duration.ofMinutes(15));
    worker.runDue();

    assertThat(came)
        .containsExactly(Progress.NONE, Progress.NONE.withProgressCount(5).withMessage("half"));
  }

  @Test
  void a_checkpoint_is_where_the_next_attempt_starts() {
    List<String> cursors = new ArrayList<>();
    Worker worker =
        tenant
            .worker()
            .handle(
                EMAIL,
                (email, job) -> {
                  cursors.add(job.lastCursor().orElse("start"));
                  job.checkpoint("row-" + job.attempt() * 100);
                  if (job.attempt() < 3) {
                    throw new IllegalStateException("again");
                  }
                })
            .build();
    UUID id = enqueue("ada");

    for (int i = 0; i < 3; i++) {
      worker.runDue();
      tenant.advance(Duration.ofMinutes(15));
    }

    assertThat(cursors).containsExactly("start", "row-100", "row-200");
    assertThat(tenant.job(id).progress().cursor()).contains("row-300");
  }

  @Test
  void progress_log_and_usage_are_stored_with_the_job() {
    Worker worker =
        tenant
            .worker()
            .handle(
                EMAIL,
                (email, job) -> {
                  job.progress(Progress.NONE.withPercent(40));
                  job.progress(Progress.NONE.withMessage("almost"));
                  job.log("first");
                  job.log("second");
                  job.usage(10, 3);
                  job.usage(1, 1);
                })
            .build();
    UUID id = enqueue("ada");

    worker.runDue();

    Job done = tenant.job(id);
    assertThat(done.progress().percent()).hasValue(40);
    assertThat(done.progress().message()).contains("almost");
    assertThat(tenant.jobs().log(id)).containsExactly("first", "second");
    assertThat(tenant.query("SELECT input_tokens, output_tokens FROM {schema}.job_done").getFirst())
        .containsEntry("input_tokens", 11L)
        .containsEntry("output_tokens", 4L);
  }
}
