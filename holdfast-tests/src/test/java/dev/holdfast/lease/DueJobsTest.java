package dev.holdfast.lease;

import static org.assertj.core.api.Assertions.assertThat;

import dev.holdfast.job.Kind;
import dev.holdfast.testkit.Covers;
import dev.holdfast.testkit.TestTenant;
import dev.holdfast.worker.Worker;
import dev.holdfast.worker.WorkerConfig;
import dev.holdfast.worker.WorkerListener;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

@Covers("A5")
class DueJobsTest {

  private static final Kind<String> EMAIL = Kind.of("email", String.class);

  @RegisterExtension final TestTenant tenant = new TestTenant();

  @Test
  void workers_poll_every_two_seconds_unless_configured_otherwise() {
    assertThat(WorkerConfig.defaults().pollInterval()).isEqualTo(Duration.ofSeconds(2));
  }

  @Test
  void a_job_is_due_at_its_very_moment_and_not_before() {
    Instant moment = Instant.parse("2031-05-01T12:00:00Z");
    stopTheClockAt(moment);
    List<String> ran = new ArrayList<>();
    Worker worker = tenant.worker().handle(EMAIL, (to, job) -> ran.add(to)).build();
    tenant.jobs().enqueue(EMAIL.job("a microsecond early").withRunAt(moment.plusNanos(1_000)));
    tenant.jobs().enqueue(EMAIL.job("now").withRunAt(moment));

    worker.runDue();

    assertThat(ran).containsExactly("now");
    stopTheClockAt(moment.plusNanos(1_000));
    worker.runDue();
    assertThat(ran).containsExactly("now", "a microsecond early");
  }

  @Test
  void a_delayed_job_runs_once_its_delay_is_over() {
    List<String> ran = new ArrayList<>();
    Worker worker = tenant.worker().handle(EMAIL, (to, job) -> ran.add(to)).build();
    tenant.jobs().enqueue(EMAIL.job("ada").withDelay(Duration.ofHours(1)));

    tenant.advance(Duration.ofMinutes(59));
    worker.runDue();
    assertThat(ran).isEmpty();

    tenant.advance(Duration.ofMinutes(1));
    worker.runDue();
    assertThat(ran).containsExactly("ada");
  }

  @Test
  void a_pending_job_is_never_due() {
    Worker worker = tenant.worker().handle(EMAIL, (to, job) -> {}).build();
    tenant.jobs().enqueue(EMAIL.job("ada").asPending());

    assertThat(worker.runDue()).isZero();
  }

  @Test
  void a_job_that_nobody_announced_is_found_by_polling() throws Exception {
    var id = tenant.jobs().enqueue(EMAIL.job("ada").asPending()).id();
    CountDownLatch looked = new CountDownLatch(1);
    CountDownLatch ran = new CountDownLatch(1);
    WorkerListener listener =
        new WorkerListener() {
          @Override
          public void claimed(int jobs, Duration took) {
            looked.countDown();
          }
        };
    try (Worker worker =
        tenant
            .worker()
            .configure(config -> config.withPollInterval(Duration.ofMillis(20)))
            .listen(listener)
            .handle(EMAIL, (to, job) -> ran.countDown())
            .start()) {
      looked.await(); // or its first look could find it
      // Straight into the table: no bell rings, no notification is sent.
      tenant.execute("UPDATE {schema}.job SET state = 'queued' WHERE id = '" + id + "'");

      ran.await();
    }
  }

  private void stopTheClockAt(Instant moment) {
    tenant.execute(
        """
        CREATE OR REPLACE FUNCTION {schema}.clock() RETURNS timestamptz
          LANGUAGE sql STABLE PARALLEL SAFE
          AS 'SELECT timestamptz ''%s'''
        """
            .formatted(moment));
  }
}
