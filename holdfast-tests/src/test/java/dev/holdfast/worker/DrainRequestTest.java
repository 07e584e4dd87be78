package dev.holdfast.worker;

import static org.assertj.core.api.Assertions.assertThat;

import dev.holdfast.api.HttpLeases;
import dev.holdfast.codec.JacksonCodec;
import dev.holdfast.fleet.Presence;
import dev.holdfast.fleet.WorkerInfo;
import dev.holdfast.job.JobState;
import dev.holdfast.job.Kind;
import dev.holdfast.queue.Why.Reason;
import dev.holdfast.server.TestServer;
import dev.holdfast.server.auth.Role;
import dev.holdfast.tenant.TenantName;
import dev.holdfast.testkit.TestTenant;
import dev.holdfast.wake.Bell;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.UUID;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicBoolean;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

/** A worker that is asked to take nothing more. */
class DrainRequestTest {

  private static final Kind<Integer> NOOP = Kind.of("noop", Integer.class);

  @RegisterExtension final TestTenant tenant = new TestTenant();

  private Presence presence(Optional<String> of) {
    return presence("w-" + tenant.name(), "here", of);
  }

  private Presence presence(String name, String host, Optional<String> of) {
    return new Presence(
        tenant.holdfast().tenants().control(),
        () -> new WorkerInfo(name, host, Map.of(), of, Set.of("default"), Optional.empty()),
        Optional::empty);
  }

  private boolean drain(boolean ofAll, boolean drain) {
    return tenant
        .holdfast()
        .tenants()
        .control()
        .inTransaction(handle ->
            tenant
                .holdfast()
                .workers()
                .drain(handle, tenant.name(), "w-" + tenant.name(), ofAll, drain));
  }

  @Test
  void it_hears_so_with_its_beat_and_counts_no_longer_as_one_that_serves() {
    UUID job = tenant.jobs().enqueue(NOOP.job(1)).id();
    Presence presence = presence(Optional.of(tenant.name().value()));
    presence.beat();
    Reason before = tenant.jobs().why(job).reason();

    assertThat(drain(false, true)).isTrue();
    presence.beat();

    assertThat(before).isEqualTo(Reason.CLAIMABLE);
    assertThat(presence.isDraining()).isTrue();
    assertThat(tenant.jobs().why(job).reason()).isEqualTo(Reason.NO_WORKER);
    assertThat(drain(false, false)).isTrue();
    presence.beat();
    assertThat(presence.isDraining()).isFalse();
    assertThat(tenant.jobs().why(job).reason()).isEqualTo(Reason.CLAIMABLE);
    presence.leave();
  }

  @Test
  void jobs_do_not_wait_for_its_host_until_it_serves_again() {
    Optional<String> own = Optional.of(tenant.name().value());
    String host = "host-of-" + tenant.name();
    Presence drained = presence("w-" + tenant.name(), host, own);
    Presence other = presence("other", "other-host", own);
    drained.beat();

    assertThat(online(other)).contains(host);
    assertThat(drain(false, true)).isTrue();
    assertThat(online(other)).doesNotContain(host).contains("other-host");
    assertThat(drain(false, false)).isTrue();
    assertThat(online(other)).contains(host);
    drained.leave();
    other.leave();
  }

  private Set<String> online(Presence presence) {
    presence.beat();
    return presence.hostsOf(tenant.name()).online();
  }

  @Test
  void one_that_serves_all_tenants_is_not_for_one_tenants_people_to_stop() {
    Presence presence = presence(Optional.empty());
    presence.beat();

    assertThat(drain(false, true)).isFalse();
    presence.beat();
    boolean heard = presence.isDraining();
    assertThat(drain(true, true)).isTrue();
    presence.beat();

    assertThat(heard).isFalse();
    assertThat(presence.isDraining()).isTrue();
    presence.leave();
  }

  @Test
  void another_tenants_worker_of_the_same_name_is_left_alone() {
    Presence presence = presence(Optional.of(TenantName.DEFAULT.value()));
    presence.beat();

    assertThat(drain(true, true)).isFalse();
    presence.beat();

    assertThat(presence.isDraining()).isFalse();
    presence.leave();
  }

  @Test
  void it_claims_nothing_until_it_may_again() throws Exception {
    AtomicBoolean draining = new AtomicBoolean(true);
    CountDownLatch asked = new CountDownLatch(3);
    CountDownLatch ran = new CountDownLatch(1);
    UUID job = tenant.jobs().enqueue(NOOP.job(1)).id();
    HttpLeases leases = TestServer.shared().client(Role.WORKER, tenant.name()).leases();
    WorkerDependencies drained =
        new WorkerDependencies(
            leases,
            leases,
            new Bell(),
            List.of(),
            () -> {
              asked.countDown();
              return draining.get();
            },
            new Idle());
    Worker worker =
        new WorkerBuilder(new JacksonCodec(), (config, kinds, listener) -> drained)
            .configure(config -> config.withPollInterval(Duration.ofMillis(20)))
            .handle(NOOP, (number, context) -> ran.countDown())
            .start();
    try (worker) {
      asked.await();
      assertThat(tenant.job(job).state()).isEqualTo(JobState.QUEUED);

      draining.set(false);

      ran.await();
    }
    assertThat(tenant.job(job).state()).isEqualTo(JobState.SUCCEEDED);
  }
}
