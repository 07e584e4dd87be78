package dev.holdfast.retention;

import static org.assertj.core.api.Assertions.assertThat;

import dev.holdfast.audit.Act;
import dev.holdfast.job.Failure;
import dev.holdfast.job.Kind;
import dev.holdfast.job.Outcome;
import dev.holdfast.schedule.Schedule;
import dev.holdfast.schedule.Trigger;
import dev.holdfast.testkit.TestTenant;
import dev.holdfast.worker.Worker;
import java.time.Duration;
import java.util.Optional;
import java.util.UUID;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

class RetentionTest {

  private static final Kind<Boolean> WORK = Kind.of("work", Boolean.class);

  @RegisterExtension final TestTenant tenant = new TestTenant();

  @Test
  void an_application_says_of_each_part_of_the_history_how_long_it_is_kept() {
    Retention said =
        Retention.DEFAULTS
            .withLogs(Duration.ofMinutes(1))
            .withSucceeded(Duration.ofHours(1))
            .withFailed(Duration.ofDays(1))
            .withSlots(Duration.ofDays(2));
    tenant.stopClock();
    UUID good = tenant.jobs().enqueue(WORK.job(true)).id();
    UUID bad = tenant.jobs().enqueue(WORK.job(false)).id();
    tenant
        .schedules()
        .put(Schedule.of("brief", Trigger.cron("0 * * * *"), WORK.job(true)), Act.by("ada"));
    tenant.schedules().trigger("brief", Optional.empty(), Act.by("ada"));
    worker().runDue();
    tenant.scheduler().runOnce();

    tenant.advance(Duration.ofMinutes(2));
    prune(said);
    assertThat(tenant.jobs().log(good)).isEmpty();
    assertThat(tenant.jobs().get(good)).isPresent();
    tenant.advance(Duration.ofHours(1));
    prune(said);
    assertThat(tenant.jobs().get(good)).isEmpty();
    assertThat(tenant.jobs().get(bad)).isPresent();
    tenant.advance(Duration.ofDays(1));
    prune(said);
    assertThat(tenant.jobs().get(bad)).isEmpty();
    assertThat(tenant.schedules().slots("brief", Optional.empty(), 10)).hasSize(1);
    tenant.advance(Duration.ofDays(1));
    prune(said);

    assertThat(tenant.schedules().slots("brief", Optional.empty(), 10)).isEmpty();
  }

  private Worker worker() {
    return tenant
        .worker()
        .handleWithOutcome(
            WORK,
            (well, job) -> {
              job.log("working");
              return well ? Outcome.succeeded() : Outcome.failed(Failure.permanent("BAD", "no"));
            })
        .build();
  }

  private void prune(Retention retention) {
    new HistoryPruner(tenant.tenant().db(), retention).prune();
  }
}
