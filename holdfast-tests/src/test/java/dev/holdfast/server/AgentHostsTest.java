package dev.holdfast.server;

import static org.assertj.core.api.Assertions.assertThat;

import dev.holdfast.server.Caller.Reply;
import dev.holdfast.testkit.Covers;
import java.time.Duration;
import java.util.List;
import org.junit.jupiter.api.Test;
import tools.jackson.databind.JsonNode;

/** Which hosts there are, and which of them get a job. */
class AgentHostsTest extends AgentsRig {

  @Covers({"C12", "C8"})
  @Test
  void a_required_host_alone_gets_the_job_and_a_preferred_one_gets_it_first() {
    Reply submitted =
        fleet
            .caller()
            .post("/run-simulation", "{\"config_path\": \"x.yaml\", \"target_host\": \"a\"}");
    String id = submitted.json().path("job_id").asString();
    assertThat(submitted.json().path("host").asString()).isEqualTo("a");
    assertThat(fleet.caller().get("/queue").json().toString())
        .isEqualTo("[{\"job_id\":\"" + id + "\",\"preferred_host\":\"a\",\"require_host\":true}]");
    tenant.advance(Duration.ofMinutes(1));
    assertThat(fleet.next("b").status()).isEqualTo(204);
    JsonNode payload = fleet.next("a").json();
    assertThat(payload.path("preferred_host").asString()).isEqualTo("a");

    // Preferred, and there: others wait ten seconds.
    requeue(id, "{\"preferred_host\": \"a\", \"require_host\": false}");
    assertThat(fleet.next("b").status()).isEqualTo(204);
    assertThat(fleet.take("a")).isEqualTo(id);
    requeue(id, "{\"preferred_host\": \"a\", \"require_host\": false}");
    assertThat(fleet.next("b").status()).isEqualTo(204);
    tenant.advance(Duration.ofSeconds(11));
    fleet.beat("a");
    assertThat(fleet.take("b")).isEqualTo(id);

    // Preferred, and not there: at once.
    tenant.advance(Duration.ofSeconds(61));
    requeue(id, "{\"preferred_host\": \"a\", \"require_host\": false}");
    assertThat(fleet.take("b")).isEqualTo(id);

    // Nobody's any more.
    requeue(id, "{\"preferred_host\": null}");
    assertThat(fleet.take("c")).isEqualTo(id);
  }

  @Covers({"C16", "C8"})
  @Test
  void hosts_show_who_is_there_what_they_say_and_how_much_they_have() {
    fleet.beat("a");
    fleet.submit();
    fleet.running("b");
    tenant.advance(Duration.ofSeconds(61));
    fleet.beat("a");

    JsonNode hosts = fleet.caller().get("/hosts").json();

    JsonNode a = hosts.path("hosts").path("a");
    JsonNode b = hosts.path("hosts").path("b");
    assertThat(a.path("online").asBoolean()).isTrue();
    assertThat(a.path("info").toString()).isEqualTo("{\"load\":0.5,\"version\":\"1\"}");
    assertThat(a.path("running").asInt()).isZero();
    assertThat(b.path("online").asBoolean()).isFalse();
    assertThat(b.path("running").asInt()).isEqualTo(1);
    assertThat(a.path("last_seen").asDouble() - b.path("last_seen").asDouble()).isEqualTo(61.);
    assertThat(hosts.path("available_hosts").toString()).isEqualTo("[\"a\",\"b\"]");
  }

  @Test
  void of_very_many_hosts_those_are_shown_that_were_seen_last() {
    fleet.beat("long-ago");
    tenant.advance(Duration.ofSeconds(1));
    tenant.execute(
        """
        INSERT INTO {schema}.agent (name, seen_at)
        SELECT 'made-up-' || n, {schema}.clock() FROM generate_series(1, 999) AS n
        """);
    tenant.advance(Duration.ofSeconds(1));
    fleet.submit();
    fleet.running("zoe");

    JsonNode hosts = fleet.caller().get("/hosts").json();

    assertThat(hosts.path("available_hosts")).hasSize(1_000);
    assertThat(List.copyOf(hosts.path("hosts").propertyNames()))
        .hasSize(1_000)
        .contains("zoe", "made-up-999")
        .doesNotContain("long-ago")
        .isSorted();
    assertThat(hosts.path("hosts").path("zoe").path("running").asInt()).isEqualTo(1);
  }

  @Test
  void an_answer_of_hosts_that_say_much_of_themselves_is_not_larger_than_a_page() {
    tenant.execute(
        """
        INSERT INTO {schema}.agent (name, seen_at, info)
        SELECT 'h' || n, {schema}.clock(), json_build_object('text', repeat('x', 16000))
          FROM generate_series(1, 900) AS n
        """);

    assertThat(fleet.caller().get("/hosts").text()).hasSizeBetween(8 << 20, 9 << 20);
  }

  @Covers({"C9", "C16"})
  @Test
  void where_hosts_are_listed_no_others_are_let_in() {
    ServerConfig config = Fleet.open();
    try (TestServer listed =
        TestServer.start(config.withAgents(config.agents().withHosts("[\"a\", 'b']")))) {
      Caller caller = new Fleet(listed, tenant).caller();
      String job = "{\"config_path\": \"x.yaml\", \"target_host\": \"%s\"}";

      assertThat(caller.post("/run-simulation", job.formatted("c")).status()).isEqualTo(400);
      assertThat(caller.post("/run-simulation", job.formatted("b")).status()).isEqualTo(200);
      for (String path : List.of("/api/agent/next-job", "/api/agent/heartbeat")) {
        assertThat(caller.post(path, "{\"worker_id\": \"c\"}").status()).isEqualTo(400);
        assertThat(caller.post(path, "{\"worker_id\": \"a\"}").status()).isIn(200, 204);
      }
      JsonNode hosts = caller.get("/hosts").json();
      assertThat(hosts.path("available_hosts").toString()).isEqualTo("[\"a\",\"b\"]");
      assertThat(hosts.path("hosts").path("a").path("online").asBoolean()).isTrue();
      assertThat(hosts.path("hosts").path("b").path("online").asBoolean()).isFalse();
      assertThat(hosts.path("hosts").path("b").path("last_seen").isNull()).isTrue();
    }
  }
}
