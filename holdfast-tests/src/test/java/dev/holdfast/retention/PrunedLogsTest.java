package dev.holdfast.retention;

import static org.assertj.core.api.Assertions.assertThat;

import dev.holdfast.job.Failure;
import dev.holdfast.job.Kind;
import dev.holdfast.job.Outcome;
import dev.holdfast.queue.LogChunk;
import dev.holdfast.testkit.TestTenant;
import dev.holdfast.worker.Worker;
import java.time.Duration;
import java.util.UUID;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

class PrunedLogsTest {

  private static final Kind<Integer> WORK = Kind.of("work", Integer.class);

  @RegisterExtension final TestTenant tenant = new TestTenant();

  @Test
  void whoever_follows_the_log_of_a_job_misses_no_line_after_older_ones_are_gone() {
    UUID id = tenant.jobs().enqueue(WORK.job(1)).id();
    Worker worker =
        tenant
            .worker()
            .handleWithOutcome(
                WORK,
                (args, context) -> {
                  context.log("attempt " + context.attempt() + ", a line");
                  context.log("attempt " + context.attempt() + ", another");
                  return Outcome.failed(Failure.retryable("FLAKY", "again"));
                })
            .build();
    worker.runDue();
    LogChunk first = tenant.jobs().log(id, 0, 10);
    tenant.advance(Duration.ofDays(8));
    new HistoryPruner(tenant.tenant().db(), Retention.DEFAULTS).prune();

    worker.runDue();

    assertThat(tenant.jobs().log(id, first.offset(), 10).lines())
        .extracting(LogChunk.Line::text)
        .containsExactly("attempt 2, a line", "attempt 2, another");
    assertThat(tenant.jobs().log(id)).as("and the one before").hasSize(3);
  }
}
