package dev.holdfast.tenant;

import static org.assertj.core.api.Assertions.assertThat;

import dev.holdfast.job.JobIds;
import dev.holdfast.job.JobState;
import dev.holdfast.job.Kind;
import dev.holdfast.job.NewJob;
import dev.holdfast.queue.QueueSettings;
import dev.holdfast.testkit.Covers;
import dev.holdfast.testkit.TestTenant;
import dev.holdfast.worker.Worker;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.UUID;
import java.util.concurrent.CountDownLatch;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

@Covers("B2")
class TenantIsolationTest {

  private static final Kind<String> EMAIL = Kind.of("email", String.class);

  @RegisterExtension final TestTenant ours = new TestTenant();
  @RegisterExtension final TestTenant theirs = new TestTenant();

  @Test
  void a_worker_runs_its_own_tenants_jobs_and_no_others() {
    List<String> ran = new ArrayList<>();
    Worker worker =
        ours.worker().handle(EMAIL, (to, job) -> ran.add(job.tenant() + " " + to)).build();
    ours.jobs().enqueue(EMAIL.job("ada"));
    UUID theirJob = theirs.jobs().enqueue(EMAIL.job("bob")).id();

    worker.runDue();

    assertThat(ran).containsExactly(ours.name() + " ada");
    assertThat(theirs.job(theirJob).state()).isEqualTo(JobState.QUEUED);
    assertThat(ours.jobs().get(theirJob)).isEmpty();
  }

  @Test
  void started_workers_of_two_tenants_keep_to_their_own() throws Exception {
    List<String> strays = Collections.synchronizedList(new ArrayList<>());
    CountDownLatch ran = new CountDownLatch(200);
    try (Worker our = started(ours, "ours", strays, ran);
        Worker their = started(theirs, "theirs", strays, ran)) {
      ours.jobs().enqueueAll(Collections.nCopies(100, EMAIL.job("ours")));
      theirs.jobs().enqueueAll(Collections.nCopies(100, EMAIL.job("theirs")));
      ran.await();
    }
    assertThat(strays).isEmpty();
  }

  @Test
  void ids_and_unique_keys_of_one_tenant_are_free_in_another() {
    NewJob job = EMAIL.job("ada").withId(JobIds.next()).withUniqueKey("ada");

    assertThat(ours.jobs().enqueue(job).created()).isTrue();
    assertThat(theirs.jobs().enqueue(job).created()).isTrue();
  }

  @Test
  void pausing_a_queue_pauses_it_for_one_tenant() {
    ours.queues().put("default", QueueSettings.DEFAULTS.withPaused(true));
    ours.jobs().enqueue(EMAIL.job("ada"));
    theirs.jobs().enqueue(EMAIL.job("bob"));

    assertThat(ours.worker().handle(EMAIL, (to, job) -> {}).build().runDue()).isZero();
    assertThat(theirs.worker().handle(EMAIL, (to, job) -> {}).build().runDue()).isEqualTo(1);
  }

  private static Worker started(
      TestTenant tenant, String mark, List<String> strays, CountDownLatch ran) {
    return tenant
        .worker()
        .handle(
            EMAIL,
            (of, job) -> {
              if (!of.equals(mark)) {
                strays.add(of);
              }
              ran.countDown();
            })
        .start();
  }
}
