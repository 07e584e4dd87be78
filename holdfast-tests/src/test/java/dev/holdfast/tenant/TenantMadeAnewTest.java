package dev.holdfast.tenant;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.holdfast.fleet.Presence;
import dev.holdfast.fleet.WorkerInfo;
import dev.holdfast.hold.EngineRig;
import dev.holdfast.job.JobIds;
import dev.holdfast.job.JobState;
import dev.holdfast.job.NewJob;
import dev.holdfast.job.Outcome;
import dev.holdfast.lease.FinishReply;
import dev.holdfast.lease.Lease;
import dev.holdfast.queue.Acts;
import dev.holdfast.queue.Changes;
import dev.holdfast.schedule.Schedule;
import dev.holdfast.schedule.Schedules;
import dev.holdfast.schedule.Trigger;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.UUID;
import org.junit.jupiter.api.Test;

/** A tenant that is dropped and made anew while processes go on that knew the old one. */
class TenantMadeAnewTest extends EngineRig {

  private void makeAnew() {
    tenant.holdfast().tenants().drop(tenant.name());
    tenant.holdfast().tenants().create(tenant.name());
  }

  @Test
  void a_worker_of_the_old_tenant_cannot_finish_a_job_of_the_new_one() {
    UUID id = JobIds.next();
    enqueue(NewJob.of("call", 1).withId(id));
    Lease old = claim(1).getFirst();

    makeAnew();
    assertThatThrownBy(() -> enqueue(NewJob.of("call", 1).withId(id)))
        .hasMessageContaining("try again");
    enqueue(NewJob.of("call", 1).withId(id));
    Lease current = claim(1).getFirst();

    assertThat(current.key().fence()).isGreaterThan(old.key().fence());
    assertThat(finish(old, Outcome.succeeded())).isEqualTo(new FinishReply.Lost());
    assertThat(tenant.job(id).state()).isEqualTo(JobState.RUNNING);
  }

  @Test
  void fences_go_on_however_often_a_tenant_is_made_anew() {
    enqueue(NewJob.of("call", 1));
    long first = claim(1).getFirst().key().fence();

    makeAnew();
    makeAnew();
    assertThatThrownBy(() -> enqueue(NewJob.of("call", 1))).hasMessageContaining("try again");
    enqueue(NewJob.of("call", 1));

    assertThat(claim(1).getFirst().key().fence()).isGreaterThan(first);
  }

  @Test
  void a_schedule_of_the_new_tenant_fires_and_can_be_triggered_at_once() {
    Schedules schedules = tenant.schedules(); // as one that a process keeps
    Schedule minutely = Schedule.of("digest", Trigger.cron("0 * * * * *"), NewJob.of("call", 1));
    schedules.put(minutely, ADA);
    schedules.trigger("digest", Optional.of(Instant.EPOCH), ADA);

    makeAnew();
    schedules.put(minutely, ADA);
    UUID job = schedules.trigger("digest", Optional.of(Instant.EPOCH), ADA);

    assertThat(tenant.job(job).state()).isEqualTo(JobState.QUEUED);
  }

  @Test
  void workers_of_the_old_tenant_are_not_listed_in_the_new_one() {
    String name = "w-" + tenant.name();
    WorkerInfo worker =
        new WorkerInfo(
            name,
            name,
            Map.of(),
            Optional.of(tenant.name().value()),
            Set.of("default"),
            Optional.empty());
    Presence presence =
        new Presence(tenant.holdfast().tenants().control(), () -> worker, Optional::empty);
    presence.beat();
    assertThat(workers()).contains(name);

    tenant.holdfast().tenants().drop(tenant.name());
    assertThat(workers()).doesNotContain(name);
    presence.beat(); // it does not know yet
    tenant.holdfast().tenants().create(tenant.name());

    assertThat(workers()).doesNotContain(name);
  }

  private List<String> workers() {
    return tenant.holdfast().workers().list(tenant.name(), "", 1_000).stream()
        .map(each -> each.info().name())
        .toList();
  }

  @Test
  void a_priority_that_was_given_in_the_old_tenant_can_be_given_in_the_new_one() {
    Acts acts = tenant.acts(); // as one that a process keeps
    acts.change(enqueue(NewJob.of("call", 1)), Changes.NONE.withPriority(-5), ADA);

    makeAnew();
    assertThatThrownBy(() -> enqueue(NewJob.of("call", 1))).hasMessageContaining("try again");
    UUID id = enqueue(NewJob.of("call", 1));
    acts.change(id, Changes.NONE.withPriority(-5), ADA);

    assertThat(tenant.job(id).priority()).isEqualTo(-5);
  }
}
