package dev.holdfast.server;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.zaxxer.hikari.HikariDataSource;
import dev.holdfast.Holdfast;
import dev.holdfast.error.HoldfastException;
import dev.holdfast.job.PolicyOverrides;
import dev.holdfast.job.RetryPolicy;
import dev.holdfast.rig.RunDatabase;
import dev.holdfast.server.Caller.Reply;
import dev.holdfast.tenant.TenantName;
import java.time.Duration;
import java.util.Map;
import java.util.Optional;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import tools.jackson.databind.JsonNode;

/**
 * What the environment says of settings reaches tenants that are made while the server runs. On a
 * database of its own: it would reach the tenants of all other tests as well.
 */
class SeededSettingsTest {

  private static final TenantName LATE = new TenantName("late");
  private static final Map<String, String> ENVIRONMENT =
      Map.of(
          "TOKEN_LIMIT", "100",
          "LEASE_SEC_DEFAULT", "77",
          "HOST_HEARTBEAT_TTL", "9",
          "BACKOFF_BASE_SEC", "10");

  private final ServerConfig config = TestServer.config();
  private HikariDataSource pool;
  private Holdfast holdfast;

  @BeforeEach
  void create() throws Exception {
    pool = RunDatabase.create().pool(10);
    holdfast = Holdfast.on(pool);
  }

  @AfterEach
  void close() {
    pool.close();
  }

  @Test
  void a_tenant_that_is_made_while_the_server_runs_begins_with_them() throws Exception {
    try (HoldfastServer server = HoldfastServer.start(config, pool, ENVIRONMENT)) {
      Reply made = system(server, TenantName.DEFAULT).post("/api/v1/tenants", name(LATE));

      assertThat(made.status()).as(made.text()).isEqualTo(201);
      assertThat(defaults("targets").tokenLimit()).as("before anybody looks").contains(100L);
      assertThat(defaults("pull").leaseLength()).contains(Duration.ofSeconds(77));
      assertThat(value(server, "TOKEN_LIMIT")).isEqualTo(100);
      assertThat(value(server, "HOST_HEARTBEAT_TTL")).isEqualTo(9);
      assertThat(value(server, "MAX_ATTEMPTS_DEFAULT")).as("of which it is silent").isEqualTo(3);
    }
  }

  @Test
  void what_somebody_says_of_such_a_tenant_wins_at_the_next_start_as_well() throws Exception {
    try (HoldfastServer server = HoldfastServer.start(config, pool, ENVIRONMENT)) {
      system(server, TenantName.DEFAULT).post("/api/v1/tenants", name(LATE));
      system(server, LATE).put("/api/v1/settings/TOKEN_LIMIT", "{\"value\": 500}");
    }
    try (HoldfastServer server = HoldfastServer.start(config, pool, ENVIRONMENT)) {
      assertThat(value(server, "TOKEN_LIMIT")).isEqualTo(500);
      assertThat(value(server, "LEASE_SEC_DEFAULT")).isEqualTo(77);
    }
  }

  @Test
  void a_tenant_that_an_application_made_has_them_once_a_node_opens_it() throws Exception {
    try (HoldfastServer server = HoldfastServer.start(config, pool, ENVIRONMENT)) {
      holdfast.tenants().create(LATE);

      assertThat(value(server, "TOKEN_LIMIT")).isEqualTo(100);
      assertThat(defaults("targets").tokenLimit()).contains(100L);
    }
  }

  @Test
  void a_value_that_is_none_keeps_the_server_from_starting_and_none_is_stored() {
    Map<String, String> wrong = Map.of("LEASE_SEC_DEFAULT", "77", "TOKEN_LIMIT", "many");

    assertThatThrownBy(() -> HoldfastServer.start(config, pool, wrong))
        .isInstanceOf(HoldfastException.class)
        .hasMessageContaining("TOKEN_LIMIT");

    assertThat(holdfast.queues(TenantName.DEFAULT).get("pull").defaults().leaseLength())
        .contains(Duration.ofMinutes(3));
  }

  @Test
  void what_somebody_said_in_the_settings_of_a_queue_wins_as_well() throws Exception {
    try (HoldfastServer server = HoldfastServer.start(config, pool, Map.of())) {
      system(server, TenantName.DEFAULT).post("/api/v1/tenants", name(LATE));
      Reply put =
          system(server, LATE)
              .put(
                  "/api/v1/queues/pull",
                  "{\"defaults\": {\"lease_seconds\": 600, \"retry\": {\"type\": \"none\"}}}");
      assertThat(put.status()).as(put.text()).isEqualTo(200);
    }
    try (HoldfastServer server = HoldfastServer.start(config, pool, ENVIRONMENT)) {
      assertThat(value(server, "LEASE_SEC_DEFAULT")).isEqualTo(600);
      assertThat(value(server, "TOKEN_LIMIT")).isEqualTo(100);
      assertThat(defaults("pull").retry()).contains(new RetryPolicy.None());
    }
  }

  private PolicyOverrides defaults(String queue) {
    return holdfast.queues(LATE).get(queue).defaults();
  }

  private Caller system(HoldfastServer server, TenantName tenant) throws Exception {
    return new Caller(
        server.port().orElseThrow(),
        Optional.of(TestServer.tokenIn(config.data())),
        Optional.of(tenant));
  }

  private long value(HoldfastServer server, String name) throws Exception {
    Reply reply = system(server, LATE).get("/api/v1/settings");
    assertThat(reply.status()).as(reply.text()).isEqualTo(200);
    for (JsonNode each : reply.json().path("settings")) {
      if (each.path("name").asString().equals(name)) {
        return each.path("value").asLong();
      }
    }
    throw new AssertionError("no " + name + " in " + reply.text());
  }

  private static String name(TenantName tenant) {
    return "{\"name\": \"%s\"}".formatted(tenant.value());
  }
}
