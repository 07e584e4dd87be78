package dev.holdfast.server;

import static org.assertj.core.api.Assertions.assertThat;

import dev.holdfast.testkit.Covers;
import java.time.Duration;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** Agents that say nothing, of their jobs or at all. */
@Covers("C14")
class AgentSilenceTest extends AgentsRig {

  // So that only what a test is about runs out.
  @BeforeEach
  void bePatient() {
    fleet.set("WORKER_STALE_GRACE_SECONDS", 86_400);
  }

  private void later(int seconds) {
    tenant.advance(Duration.ofSeconds(seconds));
    fleet.reap();
  }

  private String fileStatus(String id) {
    return fleet.json("jobs/" + id + "/status.json").path("status").asString();
  }

  @Test
  void a_dispatched_job_of_which_nothing_was_heard_goes_back_to_the_queue() {
    fleet.submit();
    String id = fleet.take("a");

    later(299);
    assertThat(fileStatus(id)).isEqualTo("dispatched");
    later(2);

    assertThat(fileStatus(id)).isEqualTo("queued");
    assertThat(fleet.file("queue/" + id + ".json")).exists();
    assertThat(fleet.file("queue/" + id + ".json.claim.a")).doesNotExist();
    assertThat(fleet.report("a", id, "running").status()).isEqualTo(409);
    assertThat(fleet.take("b")).isEqualTo(id);
  }

  @Test
  void a_running_job_of_which_nothing_was_heard_has_failed_and_its_zombie_is_refused() {
    fleet.submit();
    String id = fleet.running("a");

    later(299);
    assertThat(fleet.report("a", id, "running").status()).isEqualTo(200);
    later(299);
    assertThat(fileStatus(id)).isEqualTo("running");
    later(2);

    assertThat(fileStatus(id)).isEqualTo("failed");
    assertThat(fleet.json("jobs/" + id + "/status.json").path("error").asString()).contains("a");
    assertThat(fleet.report("a", id, "finished").status()).isEqualTo(409);
    assertThat(fileStatus(id)).isEqualTo("failed");
    assertThat(fleet.next("a").status()).isEqualTo(204);
  }

  @Test
  void a_job_that_was_to_stop_and_of_which_nothing_was_heard_has_failed() {
    fleet.submit();
    String id = fleet.running("a");
    fleet.caller().post("/stop/" + id, "");

    later(301);

    assertThat(fileStatus(id)).isEqualTo("failed");
  }

  @Test
  void an_agent_that_is_gone_loses_what_it_has_though_its_time_is_not_over() {
    fleet.set("QUEUE_CLAIM_TTL", 86_400);
    fleet.set("JOB_STATUS_TTL", 86_400);
    fleet.set("WORKER_STALE_GRACE_SECONDS", 120);
    fleet.submit();
    fleet.submit();
    fleet.submit();
    String running = fleet.running("a");
    String dispatched = fleet.take("a");
    String others = fleet.running("b");

    later(100);
    fleet.beat("b");
    later(79);
    assertThat(fileStatus(running)).isEqualTo("running");
    later(2);

    assertThat(fileStatus(running)).isEqualTo("failed");
    assertThat(fileStatus(dispatched)).isEqualTo("queued");
    assertThat(fileStatus(others)).isEqualTo("running");
    assertThat(tenant.invariants().check()).isEmpty();
  }

  @Test
  void whatever_an_agent_says_is_a_sign_of_life() {
    fleet.set("JOB_STATUS_TTL", 86_400);
    fleet.set("WORKER_STALE_GRACE_SECONDS", 0);
    fleet.submit();
    String id = fleet.running("a");

    later(59);
    fleet.next("a");
    later(59);
    fleet.report("a", id, "running");
    later(59);
    fleet.beat("a");
    later(59);
    assertThat(fileStatus(id)).isEqualTo("running");
    later(2);

    assertThat(fileStatus(id)).isEqualTo("failed");
  }

  @Test
  void a_changed_setting_is_in_force_for_jobs_that_run_already() {
    fleet.submit();
    fleet.submit();
    String running = fleet.running("a");
    String dispatched = fleet.take("a");
    tenant.advance(Duration.ofSeconds(30));

    fleet.set("JOB_STATUS_TTL", 29);
    fleet.reap();

    assertThat(fileStatus(running)).isEqualTo("failed");
    assertThat(fileStatus(dispatched)).isEqualTo("queued");
  }

  @Test
  void a_longer_claim_is_in_force_for_jobs_that_are_dispatched_already() {
    fleet.submit();
    String id = fleet.take("a");
    fleet.set("JOB_STATUS_TTL", 1_000);
    fleet.set("QUEUE_CLAIM_TTL", 900);

    later(899);
    assertThat(fileStatus(id)).isEqualTo("dispatched");
    later(2);

    assertThat(fileStatus(id)).isEqualTo("queued");
  }

  @Test
  void a_dispatched_job_that_was_reported_on_is_given_the_time_of_a_status() {
    fleet.set("QUEUE_CLAIM_TTL", 10);
    fleet.submit();
    String id = fleet.take("a");
    assertThat(fleet.report("a", id, "dispatched").status()).isEqualTo(200);

    later(299);
    assertThat(fileStatus(id)).isEqualTo("dispatched");
    later(2);

    assertThat(fileStatus(id)).isEqualTo("queued");
  }
}
