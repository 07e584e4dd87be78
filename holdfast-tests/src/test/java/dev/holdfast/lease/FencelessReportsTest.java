package dev.holdfast.lease;

import static org.assertj.core.api.Assertions.assertThat;

import dev.holdfast.audit.Act;
import dev.holdfast.fleet.FencelessAgents;
import dev.holdfast.job.JobState;
import dev.holdfast.job.NewJob;
import dev.holdfast.job.Placement;
import dev.holdfast.job.Policy.OnLeaseLost;
import dev.holdfast.job.PolicyOverrides;
import dev.holdfast.lease.FencelessReports.AgentReport;
import dev.holdfast.reap.Reaper;
import dev.holdfast.testkit.TestTenant;
import java.time.Duration;
import java.time.Instant;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.UUID;
import java.util.random.RandomGenerator;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

/** Agents, who renew their leases by what they say and are lost with their silence. */
class FencelessReportsTest {

  private static final AgentReport RUNNING = saying("running");

  private static AgentReport saying(String status) {
    return new AgentReport(
        status,
        Optional.empty(),
        Optional.empty(),
        Optional.empty(),
        Optional.empty(),
        Optional.empty());
  }

  @RegisterExtension final TestTenant tenant = new TestTenant();
  private PgLeases leases;
  private FencelessReports reports;
  private FencelessAgents agents;

  @BeforeEach
  void open() {
    tenant.stopClock(); // it is seconds that these tests are about
    leases = tenant.leases();
    reports = new FencelessReports(tenant.tenant());
    agents = new FencelessAgents(tenant.tenant());
  }

  private Lease given(String agent) {
    tenant.jobs().enqueue(NewJob.of("simulation", 1).withQueue("agents"));
    agents.beat(Map.of(agent, Optional.empty()));
    Lease lease = leases.claim(ClaimRequest.of(agent, Set.of("agents"), 1)).leases().getFirst();
    reports.given(List.of(lease));
    return lease;
  }

  private void reapWhenUpFor(Duration time) {
    new Reaper(tenant.tenant(), RandomGenerator.getDefault(), () -> {})
        .runAfter(last -> last.compareTo(time) > 0 ? last.minus(time) : Duration.ZERO);
  }

  private JobState state(Lease lease) {
    return tenant.job(lease.key().jobId()).state();
  }

  @Test
  void a_word_counts_under_its_own_lease_from_its_own_agent_and_in_its_own_state() {
    Lease lease = given("a");
    LeaseKey stale =
        new LeaseKey(lease.key().tenant(), lease.key().jobId(), lease.key().fence() - 1);

    assertThat(reports.say("b", lease.key(), JobState.RUNNING, RUNNING)).isFalse();
    assertThat(reports.say("a", stale, JobState.RUNNING, RUNNING)).isFalse();
    assertThat(reports.say("a", lease.key(), JobState.DISPATCHED, RUNNING)).isFalse();
    assertThat(tenant.query("SELECT said FROM {schema}.agent_job").getFirst().get("said")).isNull();
    assertThat(reports.say("a", lease.key(), JobState.RUNNING, RUNNING)).isTrue();
    assertThat(tenant.query("SELECT said FROM {schema}.agent_job").getFirst())
        .containsEntry("said", "running");
  }

  @Test
  void an_agents_last_word_stays_whatever_repeats_arrive_late() {
    Lease lease = given("a");

    for (String word : List.of("running", "stopped", "running", "dispatched")) {
      assertThat(reports.say("a", lease.key(), JobState.RUNNING, saying(word))).isTrue();
    }
    assertThat(leases.remote().requestStop("a", lease.key())).isTrue();
    assertThat(reports.say("a", lease.key(), JobState.STOPPING, saying("stop_requested"))).isTrue();

    assertThat(said()).isEqualTo("stopped");
  }

  private String said() {
    return String.valueOf(
        tenant.query("SELECT said FROM {schema}.agent_job").getFirst().get("said"));
  }

  @Test
  void after_an_outage_no_agent_is_gone_before_there_was_time_to_hear_of_it() {
    Lease lease = given("a");
    reports.say("a", lease.key(), JobState.RUNNING, RUNNING);
    tenant.advance(Duration.ofHours(1)); // patience is 180 seconds

    reapWhenUpFor(Duration.ZERO);
    assertThat(state(lease)).isEqualTo(JobState.RUNNING);
    reapWhenUpFor(Duration.ofSeconds(179));
    assertThat(state(lease)).isEqualTo(JobState.RUNNING);
    reapWhenUpFor(Duration.ofSeconds(181));

    assertThat(state(lease)).isEqualTo(JobState.FAILED);
  }

  @Test
  void a_silent_agents_name_is_no_reason_to_take_a_job_from_a_worker_that_renews() {
    agents.beat(Map.of("a", Optional.empty()));
    tenant.jobs().enqueue(NewJob.of("simulation", 1).withQueue("agents"));
    Lease lease = leases.claim(ClaimRequest.of("a", Set.of("agents"), 1)).leases().getFirst();
    tenant.advance(Duration.ofSeconds(200));

    reapWhenUpFor(Duration.ofDays(1));

    assertThat(state(lease)).isEqualTo(JobState.RUNNING);
  }

  @Test
  void silent_agents_jobs_that_a_hook_does_not_let_a_reaper_end_hide_no_others() {
    tenant.jobs().enqueueAll(Collections.nCopies(500, NewJob.of("stuck", 1).withQueue("agents")));
    agents.beat(Map.of("a", Optional.empty()));
    reports.given(leases.claim(ClaimRequest.of("a", Set.of("agents"), 500)).leases());
    Lease last = given("a");
    tenant.advance(Duration.ofSeconds(181));

    int ended = reaperThatMayNotEnd("stuck").runOnce();

    assertThat(ended).isEqualTo(1);
    assertThat(state(last)).isEqualTo(JobState.FAILED);
  }

  @Test
  void nor_does_an_overdue_attempt_that_cannot_be_ended() {
    tenant.jobs().enqueue(NewJob.of("stuck", 1));
    assertThat(leases.claim(ClaimRequest.of("w", Set.of("default"), 1)).leases()).hasSize(1);
    Lease lease = given("a");
    tenant.advance(Duration.ofSeconds(181));

    int ended = reaperThatMayNotEnd("stuck").runOnce();

    assertThat(ended).isEqualTo(1);
    assertThat(state(lease)).isEqualTo(JobState.FAILED);
  }

  private Reaper reaperThatMayNotEnd(String kind) {
    TransitionHook refusing =
        (connection, moved) -> {
          if (moved.stream().anyMatch(move -> move.kind().equals(kind))) {
            throw new IllegalStateException("not this kind");
          }
        };
    return new Reaper(
        tenant.tenant(), RandomGenerator.getDefault(), Consequences.of(() -> {}, refusing));
  }

  @Test
  void an_agent_that_has_something_is_not_forgotten() {
    Lease lease = given("a");
    agents.beat(Map.of("b", Optional.of("{\"load\": 1}")));
    tenant.advance(Duration.ofDays(2));

    assertThat(agents.forget(Duration.ofDays(1))).isEqualTo(1);
    assertThat(agents.list()).extracting(FencelessAgents.AgentState::name).containsExactly("a");
    assertThat(state(lease)).isEqualTo(JobState.RUNNING);
  }

  private Lease stopping(OnLeaseLost policy, Optional<JobState> as) {
    UUID id =
        tenant
            .jobs()
            .enqueue(NewJob.of("email", 1).withPolicy(PolicyOverrides.NONE.withOnLeaseLost(policy)))
            .id();
    Lease lease = leases.claim(ClaimRequest.of("w", Set.of("default"), 1)).leases().getFirst();
    Act ada = Act.by("ada");
    switch (as.orElse(JobState.RUNNING)) {
      case CANCELLED -> tenant.acts().cancel(id, ada);
      case PAUSED -> tenant.acts().pause(id, ada);
      default -> tenant.acts().stop(id, ada);
    }
    tenant.advance(Duration.ofMinutes(1));
    reapWhenUpFor(Duration.ofDays(1));
    return lease;
  }

  @Test
  void a_job_that_was_to_stop_and_whose_worker_is_lost_ends_as_its_policy_says() {
    assertThat(state(stopping(OnLeaseLost.FAIL, Optional.empty()))).isEqualTo(JobState.FAILED);
    assertThat(state(stopping(OnLeaseLost.FAIL, Optional.of(JobState.PAUSED))))
        .isEqualTo(JobState.FAILED);
    assertThat(state(stopping(OnLeaseLost.FAIL, Optional.of(JobState.CANCELLED))))
        .isEqualTo(JobState.CANCELLED);
    assertThat(state(stopping(OnLeaseLost.RETRY, Optional.empty()))).isEqualTo(JobState.CANCELLED);
    assertThat(state(stopping(OnLeaseLost.RETRY, Optional.of(JobState.PAUSED))))
        .isEqualTo(JobState.PAUSED);
  }

  @Test
  void a_delayed_job_that_is_put_elsewhere_is_still_delayed() {
    UUID id = tenant.jobs().enqueue(NewJob.of("email", 1).withDelay(Duration.ofHours(1))).id();
    Instant due = tenant.job(id).runAt();

    tenant.acts().place(id, Placement.requiring("there"), Act.by("ada"));

    assertThat(tenant.job(id).runAt()).isEqualTo(due);
  }

  @Test
  void a_job_that_is_put_elsewhere_is_for_that_host_alone_from_then_on() {
    UUID id = tenant.jobs().enqueue(NewJob.of("email", 1)).id();
    Act ada = Act.by("ada");
    ClaimRequest here = ClaimRequest.of("w", Set.of("default"), 1).withPlace("here", Map.of());
    ClaimRequest there = here.withPlace("there", Map.of());

    tenant.acts().place(id, Placement.requiring("there"), ada);
    assertThat(leases.claim(here).leases()).isEmpty();
    Lease lease = leases.claim(there).leases().getFirst();
    tenant.acts().requeue(id, Placement.requiring("here"), ada.withForce());

    assertThat(leases.claim(there).leases()).isEmpty();
    Lease next = leases.claim(here).leases().getFirst();
    assertThat(next.key().fence()).isGreaterThan(lease.key().fence());
    assertThat(tenant.audit().ofJob(id)).hasSize(2);
    assertThat(tenant.invariants().check()).isEmpty();
  }
}
