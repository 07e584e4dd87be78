package dev.holdfast.server;

import static org.assertj.core.api.Assertions.assertThat;

import dev.holdfast.job.NewJob;
import dev.holdfast.job.Policy;
import dev.holdfast.job.PolicyOverrides;
import dev.holdfast.server.Caller.Reply;
import dev.holdfast.server.auth.Role;
import java.time.Duration;
import java.time.Instant;
import java.util.UUID;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import tools.jackson.databind.JsonNode;

/** A dialect's rules and settings count in another queue, too, when a request names one. */
class DialectsInOtherQueuesTest extends PullRig {

  private Caller admin;

  @BeforeEach
  void connect() {
    admin = TestServer.shared().as(Role.ADMIN, tenant.name());
  }

  @Test
  void a_targets_job_has_the_same_policy_in_another_queue() {
    set("TOKEN_LIMIT", 100);

    Policy other = tenant.job(target("?queue=vip")).policy();

    assertThat(other).isEqualTo(tenant.job(target("")).policy());
    assertThat(other.tokenLimit()).contains(100L);
  }

  @Test
  void what_a_kind_says_of_its_jobs_counts_more_in_either_queue() {
    Reply kind =
        TestServer.shared()
            .as(Role.SYSTEM, tenant.name())
            .put("/api/v1/kinds/book", "{\"defaults\": {\"token_limit\": 7, \"max_attempts\": 2}}");
    assertThat(kind.status()).as(kind.text()).isEqualTo(200);

    Policy other = tenant.job(target("?queue=vip")).policy();

    assertThat(other).isEqualTo(tenant.job(target("")).policy());
    assertThat(other.tokenLimit()).contains(7L);
    assertThat(other.maxAttempts()).isEqualTo(2);
  }

  @Test
  void a_lease_is_as_long_as_the_setting_says_in_another_queue() {
    set("LEASE_SEC_DEFAULT", 40);
    tenant.stopClock();
    enqueue(PolicyOverrides.NONE);
    UUID id = enqueueOther(PolicyOverrides.NONE);

    JsonNode own = pull("w1");
    JsonNode other = pullOther("w2", "");

    assertThat(other.path("id").asString()).isEqualTo(id.toString());
    assertThat(other.path("lease_expires_at")).isEqualTo(own.path("lease_expires_at"));
    assertThat(tenant.job(id).lease().orElseThrow().expiresAt()).isEqualTo(expiry(own));

    tenant.advance(Duration.ofSeconds(20));
    String more = "\"cursor\": \"page 2\"";
    JsonNode reported = report("w2", other, more);

    assertThat(expiry(reported)).isEqualTo(expiry(own).plusSeconds(20));
    assertThat(reported.path("lease_expires_at"))
        .isEqualTo(report("w1", own, more).path("lease_expires_at"));
  }

  @Test
  void what_a_job_or_its_queue_or_its_worker_says_of_the_lease_counts_more() {
    tenant.stopClock();
    PolicyOverrides tenMinutes = PolicyOverrides.NONE.withLeaseLength(Duration.ofMinutes(10));
    enqueue(PolicyOverrides.NONE);
    Instant usual = expiry(pull("w1"));

    enqueueOther(tenMinutes);
    assertThat(expiry(pullOther("w2", ""))).isEqualTo(usual.plusSeconds(600 - 180));
    enqueueOther(PolicyOverrides.NONE);
    assertThat(expiry(pullOther("w3", "&lease_sec=50"))).isEqualTo(usual.minusSeconds(180 - 50));
    Reply put = admin.put("/api/v1/queues/leads", "{\"defaults\": {\"lease_seconds\": 90}}");
    assertThat(put.status()).as(put.text()).isEqualTo(200);
    enqueueOther(PolicyOverrides.NONE);
    assertThat(expiry(pullOther("w4", ""))).isEqualTo(usual.minusSeconds(180 - 90));
  }

  private void set(String setting, long value) {
    Reply reply = admin.put("/api/v1/settings/" + setting, "{\"value\": %d}".formatted(value));
    assertThat(reply.status()).as(reply.text()).isEqualTo(200);
  }

  private UUID target(String query) {
    Reply reply =
        plain()
            .post(
                "/targets/%s/jobs/%s".formatted(UUID.randomUUID(), query),
                "{\"api_name\": \"book\"}");
    assertThat(reply.status()).as(reply.text()).isEqualTo(200);
    return UUID.fromString(reply.json().path("id").asString());
  }

  private UUID enqueueOther(PolicyOverrides policy) {
    return tenant.jobs().enqueue(NewJob.of("scrape", 1).withQueue("leads").withPolicy(policy)).id();
  }

  private JsonNode pullOther(String worker, String more) {
    Reply reply = worker(worker).get(PULL + "?queue=leads" + more);
    assertThat(reply.status()).as(reply.text()).isEqualTo(200);
    return reply.json().path("job");
  }

  private static Instant expiry(JsonNode json) {
    return Instant.parse(json.path("lease_expires_at").asString());
  }
}
