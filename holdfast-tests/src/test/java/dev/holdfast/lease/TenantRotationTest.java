package dev.holdfast.lease;

import static org.assertj.core.api.Assertions.assertThat;

import dev.holdfast.job.JobState;
import dev.holdfast.job.Outcome;
import dev.holdfast.reap.Downtime;
import dev.holdfast.reap.Reaper;
import dev.holdfast.reap.Reapers;
import dev.holdfast.tenant.Tenant;
import dev.holdfast.tenant.TenantName;
import dev.holdfast.testkit.Covers;
import dev.holdfast.worker.Worker;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.UUID;
import java.util.random.RandomGenerator;
import org.junit.jupiter.api.Test;

class TenantRotationTest extends RotationRig {

  @Test
  void a_flooding_tenant_leaves_the_others_their_share() {
    for (String name : List.of("flood", "drip", "drop")) {
      holdfast.tenants().create(new TenantName(name));
    }
    enqueue("flood", 1_000);
    enqueue("drip", 3);
    enqueue("drop", 3);

    List<Lease> leases = rotation().claim(request(30)).leases();

    Map<String, Integer> perTenant = new HashMap<>();
    leases.forEach(lease -> perTenant.merge(lease.key().tenant(), 1, Integer::sum));
    assertThat(perTenant).containsEntry("drip", 3).containsEntry("drop", 3);
    assertThat(leases).hasSizeGreaterThanOrEqualTo(16);
  }

  @Test
  void more_tenants_than_one_probe_asks_are_all_served() {
    List<UUID> ids = new ArrayList<>();
    for (int i = 0; i < 60; i++) {
      holdfast.tenants().create(new TenantName("t" + i));
      ids.addAll(enqueue("t" + i, 1));
    }
    List<UUID> ran = new ArrayList<>();
    Worker worker =
        holdfast.workerForAllTenants().handle(COUNT, (n, job) -> ran.add(job.jobId())).build();

    worker.runDue();

    assertThat(ran).containsExactlyInAnyOrderElementsOf(ids);
    assertThat(holdfast.jobs(new TenantName("t59")).get(ids.get(59)).orElseThrow().state())
        .isEqualTo(JobState.SUCCEEDED);
  }

  @Test
  @Covers("B2")
  void answers_come_back_to_the_tenant_and_the_place_they_belong_to() {
    holdfast.tenants().create(new TenantName("one"));
    holdfast.tenants().create(new TenantName("two"));
    enqueue("one", 2);
    enqueue("two", 2);
    TenantRotation rotation = rotation();
    List<Lease> leases = rotation.claim(request(4)).leases();

    List<Extension> extensions = rotation.extend(leases);
    List<FinishReply> replies =
        rotation.finish(
            leases.stream().map(lease -> new Finish(lease, Outcome.succeeded())).toList());

    assertThat(extensions)
        .extracting(Extension::key)
        .containsExactlyElementsOf(leases.stream().map(Lease::key).toList());
    assertThat(replies).hasSize(4).containsOnly(new FinishReply.Recorded(JobState.SUCCEEDED));
  }

  @Test
  void what_is_said_of_a_tenants_jobs_is_heard_though_another_one_is_gone() {
    for (String name : List.of("gone", "stays")) {
      holdfast.tenants().create(new TenantName(name));
      enqueue(name, 1);
    }
    TenantRotation rotation = rotation();
    List<Lease> leases = rotation.claim(request(2)).leases();
    holdfast.tenants().drop(new TenantName("gone"));

    List<Extension> extensions = rotation.extend(leases);
    List<FinishReply> replies =
        rotation.finish(
            leases.stream().map(lease -> new Finish(lease, Outcome.succeeded())).toList());

    int stays = leases.getFirst().key().tenant().equals("stays") ? 0 : 1;
    assertThat(extensions.get(stays).status()).isEqualTo(Extension.Status.EXTENDED);
    assertThat(extensions.get(1 - stays).status()).isNotEqualTo(Extension.Status.EXTENDED);
    assertThat(replies.get(stays)).isEqualTo(new FinishReply.Recorded(JobState.SUCCEEDED));
    assertThat(replies.get(1 - stays)).isNotInstanceOf(FinishReply.Recorded.class);
  }

  @Test
  void a_tenant_dropped_while_it_is_served_disturbs_nobody() {
    holdfast.tenants().create(new TenantName("gone"));
    holdfast.tenants().create(new TenantName("stays"));
    enqueue("gone", 2);
    enqueue("stays", 1);
    TenantRotation rotation = rotation();
    holdfast.tenants().drop(new TenantName("gone"));

    List<Lease> leases = rotation.claim(request(10)).leases();

    assertThat(leases).extracting(lease -> lease.key().tenant()).containsExactly("stays");
  }

  @Test
  void a_tenant_that_is_announced_gets_its_share_beside_a_backlog() {
    holdfast.tenants().create(new TenantName("flood"));
    holdfast.tenants().create(new TenantName("late"));
    enqueue("flood", 20);
    TenantRotation rotation = rotation();
    assertThat(rotation.claim(request(4)).leases()).hasSize(4);
    enqueue("late", 1);

    rotation.announced("late");
    List<Lease> leases = rotation.claim(request(4)).leases();

    assertThat(leases).extracting(lease -> lease.key().tenant()).contains("flood", "late");
  }

  @Test
  void a_tenant_dropped_after_its_work_was_announced_disturbs_nobody() {
    holdfast.tenants().create(new TenantName("gone"));
    holdfast.tenants().create(new TenantName("stays"));
    enqueue("stays", 10);
    TenantRotation rotation = rotation();
    assertThat(rotation.claim(request(2)).leases()).hasSize(2);
    rotation.announced("gone");
    holdfast.tenants().drop(new TenantName("gone"));

    List<Lease> leases = rotation.claim(request(4)).leases();

    assertThat(leases).extracting(lease -> lease.key().tenant()).contains("stays");
  }

  @Test
  void whoever_was_not_announced_is_found_once_nobody_else_is_known_to_have_work() {
    holdfast.tenants().create(new TenantName("silent"));
    TenantRotation rotation = rotation();
    assertThat(rotation.claim(request(2)).leases()).isEmpty();

    enqueue("silent", 1);

    assertThat(rotation.claim(request(2)).leases()).hasSize(1);
  }

  @Test
  void the_leases_of_every_tenant_are_looked_after_though_one_of_them_is_gone() {
    for (String name : List.of("gone", "one", "two")) {
      holdfast.tenants().create(new TenantName(name));
      enqueue(name, 1);
    }
    List<Lease> leases = rotation().claim(request(3)).leases();
    List<Tenant> tenants =
        holdfast.tenants().list().stream().map(holdfast.tenants()::tenant).toList();
    Reapers reapers =
        new Reapers(
            tenant -> new Reaper(tenant, RandomGenerator.getDefault(), () -> {}),
            serverUp -> Downtime.NONE);
    tenants.forEach(TenantRotationTest::expireLeases);
    holdfast.tenants().drop(new TenantName("gone"));

    Duration unused = reapers.runOnce(tenants, Duration.ofSeconds(5));

    assertThat(leases).hasSize(3);
    assertThat(rotation().claim(request(3)).leases())
        .extracting(lease -> lease.key().tenant())
        .containsExactlyInAnyOrder("one", "two");
  }

  @Test
  void a_tenant_that_got_its_whole_share_is_asked_again_at_once_when_permits_are_left_over() {
    for (String name : List.of("flood", "trickle")) {
      holdfast.tenants().create(new TenantName(name));
    }
    enqueue("flood", 20);
    enqueue("trickle", 1);

    Claimed claimed = rotation().claim(request(10)); // the flood is asked first, for its half

    assertThat(claimed.leases()).hasSize(6);
    assertThat(claimed.nextDueIn()).contains(Duration.ZERO);
  }

  private static void expireLeases(Tenant tenant) {
    tenant
        .db()
        .useHandle(handle ->
            handle.execute(
                tenant
                    .db()
                    .sql(
                        """
                        UPDATE {schema}.job
                           SET lease_expires_at = {schema}.clock() - interval '1 second'
                        """)));
  }

  private TenantRotation rotation() {
    return rotation(tenant -> () -> {});
  }
}
