package dev.holdfast.server;

import static org.assertj.core.api.Assertions.assertThat;

import dev.holdfast.job.PolicyOverrides;
import dev.holdfast.job.RetryPolicy;
import dev.holdfast.server.Caller.Reply;
import dev.holdfast.server.auth.Role;
import dev.holdfast.testkit.TestTenant;
import java.time.Duration;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import tools.jackson.databind.JsonNode;

/** Settings are defaults of the dialects' queues, and what either says is what the other says. */
class DialectQueueDefaultsTest {

  private static final String API = "/api/v1";

  @RegisterExtension final TestTenant tenant = new TestTenant();

  private Caller admin;

  @BeforeEach
  void connect() {
    admin = TestServer.shared().as(Role.ADMIN, tenant.name());
  }

  @Test
  void defaults_that_are_left_out_stay_in_a_dialects_queue() {
    set("TOKEN_LIMIT", 100);
    set("QUEUE_CLAIM_TTL", 44);
    set("MAX_ATTEMPTS_DEFAULT", 8);
    for (String queue : new String[] {"targets", "agents", "pull"}) {
      PolicyOverrides before = defaults(queue);

      put(queue, "{\"target_count\": 5}");

      assertThat(defaults(queue)).as(queue).isEqualTo(before.withTargetCount(5));
    }
    assertThat(value("TOKEN_LIMIT").asLong()).isEqualTo(100);
    assertThat(value("QUEUE_CLAIM_TTL").asLong()).isEqualTo(44);
    assertThat(value("MAX_ATTEMPTS_DEFAULT").asLong()).isEqualTo(8);
    assertThat(value("LEASE_SEC_DEFAULT").asLong()).isEqualTo(180);
  }

  @Test
  void so_do_the_parts_of_a_backoff() {
    set("BACKOFF_BASE_SEC", 9);

    put("pull", "{\"retry\": {\"type\": \"exponential\", \"cap_seconds\": 600}}");

    assertThat(defaults("pull").retry())
        .contains(new RetryPolicy.Exponential(Duration.ofSeconds(9), Duration.ofMinutes(10), 0.2));
    assertThat(value("BACKOFF_BASE_SEC").asLong()).isEqualTo(9);
    assertThat(value("BACKOFF_MAX_SEC").asLong()).isEqualTo(600);
  }

  @Test
  void a_backoff_that_is_not_in_force_has_no_value_until_it_is_set() {
    set("LEASE_SEC_DEFAULT", 77);

    put("pull", "{\"retry\": {\"type\": \"none\"}}");

    assertThat(value("BACKOFF_BASE_SEC").isNull()).isTrue();
    assertThat(value("BACKOFF_MAX_SEC").isNull()).isTrue();
    assertThat(value("LEASE_SEC_DEFAULT").asLong()).isEqualTo(77);
    assertThat(admin.get("/ui/settings").status()).isEqualTo(200);

    set("BACKOFF_BASE_SEC", 5);

    assertThat(value("BACKOFF_BASE_SEC").asLong()).isEqualTo(5);
    assertThat(value("BACKOFF_MAX_SEC").asLong()).isEqualTo(3_600);
    assertThat(defaults("pull").retry())
        .contains(new RetryPolicy.Exponential(Duration.ofSeconds(5), Duration.ofHours(1), 0.2));
  }

  @Test
  void in_any_other_queue_they_are_replaced_as_a_whole() {
    put("mail", "{\"max_attempts\": 9}");
    put("mail", "{\"lease_seconds\": 60}");

    assertThat(defaults("mail"))
        .isEqualTo(PolicyOverrides.NONE.withLeaseLength(Duration.ofMinutes(1)));
  }

  @Test
  void what_is_wrong_with_them_is_told_as_in_any_other_queue() {
    PolicyOverrides before = defaults("pull");
    for (String wrong :
        new String[] {
          "7", "{\"max_attempt\": 1}", "{\"retry\": 7}", "{\"retry\": {\"type\": \"often\"}}"
        }) {
      Reply refused = admin.put(API + "/queues/pull", "{\"defaults\": " + wrong + "}");

      assertThat(refused.status()).as(refused.text()).isEqualTo(400);
    }
    assertThat(defaults("pull")).isEqualTo(before);
  }

  private void set(String setting, long value) {
    Reply reply = admin.put(API + "/settings/" + setting, "{\"value\": %d}".formatted(value));
    assertThat(reply.status()).as(reply.text()).isEqualTo(200);
  }

  private void put(String queue, String defaults) {
    Reply reply = admin.put(API + "/queues/" + queue, "{\"defaults\": " + defaults + "}");
    assertThat(reply.status()).as(reply.text()).isEqualTo(200);
  }

  private PolicyOverrides defaults(String queue) {
    return tenant.queues().get(queue).defaults();
  }

  private JsonNode value(String setting) {
    for (JsonNode each : admin.get(API + "/settings").json().path("settings")) {
      if (each.path("name").asString().equals(setting)) {
        return each.path("value");
      }
    }
    throw new AssertionError("no setting " + setting);
  }
}
