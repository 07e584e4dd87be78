package dev.holdfast.server;

import static org.assertj.core.api.Assertions.assertThat;

import dev.holdfast.job.NewJob;
import dev.holdfast.job.Policy;
import dev.holdfast.lease.ClaimRequest;
import dev.holdfast.server.Caller.Reply;
import dev.holdfast.server.auth.Role;
import dev.holdfast.testkit.Covers;
import dev.holdfast.testkit.TestTenant;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.UUID;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import tools.jackson.databind.JsonNode;

/** Queues, resources, schedules, settings and tenants, as a client sees them. */
class RegistryOverHttpTest {

  private static final String API = "/api/v1";

  @RegisterExtension final TestTenant tenant = new TestTenant();

  private Caller admin;
  private Caller system;

  @BeforeEach
  void connect() {
    admin = TestServer.shared().as(Role.ADMIN, tenant.name());
    system = TestServer.shared().as(Role.SYSTEM, tenant.name());
  }

  @Test
  void a_queue_of_the_servers_own_is_for_admins_to_pause() {
    Caller operator = TestServer.shared().as(Role.OPERATOR, tenant.name());
    String own = API + "/queues/holdfast.webhooks";

    assertThat(operator.put(own, "{\"paused\": true}").status()).isEqualTo(403);
    assertThat(operator.get(own).json().path("paused").asBoolean()).isFalse();
    assertThat(operator.put(API + "/queues/mine", "{\"paused\": true}").status()).isEqualTo(200);
    assertThat(admin.put(own, "{\"paused\": true}").status()).isEqualTo(200);
  }

  @Covers("E13")
  @Test
  void a_setting_is_in_force_at_once_also_for_jobs_that_wait_already() {
    UUID id = tenant.jobs().enqueue(NewJob.of("scrape", 1).withQueue("pull")).id();
    Policy before = tenant.job(id).policy();

    admin.put(API + "/settings/LEASE_SEC_DEFAULT", "{\"value\": 77}");
    admin.put(API + "/settings/BACKOFF_BASE_SEC", "{\"value\": \"9\"}");
    admin.put(API + "/settings/MAX_ATTEMPTS_DEFAULT", "{\"value\": 8}");
    Reply refused = admin.put(API + "/settings/LEASE_SEC_DEFAULT", "{\"value\": 0}");
    Policy after = tenant.job(id).policy();

    assertThat(before.leaseLength()).isEqualTo(Duration.ofMinutes(3));
    assertThat(after.leaseLength()).isEqualTo(Duration.ofSeconds(77));
    assertThat(after.maxAttempts()).isEqualTo(8);
    assertThat(after.retry().toString()).contains("PT9S").contains("PT1H");
    assertThat(refused.status()).isEqualTo(400);
    assertThat(refused.json().path("detail").asString()).contains("1 to 86400");
    assertThat(
            tenant
                .holdfast()
                .remoteLeases(tenant.name(), Set::of)
                .claim(ClaimRequest.of("w", Set.of("pull"), 1))
                .leases()
                .getFirst()
                .length())
        .isEqualTo(Duration.ofSeconds(77));
    assertThat(admin.get(API + "/settings").text()).contains("LEASE_SEC_DEFAULT").contains("77");
    assertThat(admin.get(API + "/audit").text()).contains("put_setting");
  }

  @Test
  void the_environment_seeds_a_setting_and_what_is_stored_wins() {
    var settings =
        new dev.holdfast.server.tenancy.OpenTenants(tenant.holdfast(), name -> Set::of)
            .of(tenant.name())
            .settings();
    settings.seed(java.util.Map.of("TOKEN_LIMIT", "500"));
    Optional<Long> seeded = settings.inForce(dev.holdfast.server.tenancy.Setting.TOKEN_LIMIT);

    settings.seed(java.util.Map.of("TOKEN_LIMIT", "600"));

    assertThat(seeded).contains(500L);
    assertThat(settings.inForce(dev.holdfast.server.tenancy.Setting.TOKEN_LIMIT)).contains(500L);
    assertThat(tenant.queues().get("targets").defaults().tokenLimit()).contains(500L);
  }

  @Test
  void a_queue_is_paused_limited_and_given_defaults() {
    tenant.jobs().enqueue(NewJob.of("a", 1).withQueue("mail"));

    Reply put =
        admin.put(
            API + "/queues/mail",
            "{\"paused\": true, \"concurrency_limit\": 2, \"defaults\": {\"max_attempts\": 9}}");
    admin.put(API + "/queues/mail", "{\"paused\": false}");

    assertThat(put.status()).isEqualTo(200);
    JsonNode queue = find(admin.get(API + "/queues").json().path("queues"), "name", "mail");
    assertThat(queue.path("paused").asBoolean()).isFalse();
    assertThat(queue.path("concurrency_limit").asInt()).isEqualTo(2);
    assertThat(queue.path("queued").asInt()).isEqualTo(1);
    assertThat(queue.path("defaults").path("max_attempts").asInt()).isEqualTo(9);
    assertThat(admin.put(API + "/queues/mail", "{\"concurrency_limit\": 0}").status())
        .isEqualTo(400);
  }

  @Test
  void a_resource_says_who_has_it_and_who_waits() {
    tenant.jobs().enqueue(NewJob.of("a", 1).withResources("site:1"));
    tenant.jobs().enqueue(NewJob.of("a", 2).withResources("site:1"));
    tenant
        .holdfast()
        .remoteLeases(tenant.name(), Set::of)
        .claim(ClaimRequest.of("w", Set.of("default"), 2));

    JsonNode held = admin.get(API + "/resources/site:1").json();
    Reply wider = admin.put(API + "/resources/site:1", "{\"capacity\": 2}");

    assertThat(held.path("capacity").asInt()).isEqualTo(1);
    assertThat(held.path("holders").size()).isEqualTo(1);
    assertThat(held.path("waiters").size()).isEqualTo(1);
    assertThat(wider.json().path("capacity").asInt()).isEqualTo(2);
    assertThat(wider.json().path("waiters").size()).isZero();
    assertThat(admin.get(API + "/resources").json().path("resources").size()).isEqualTo(1);
    assertThat(admin.post(API + "/resources/site:1/release", "").status()).isEqualTo(200);
  }

  @Test
  void a_schedule_is_made_previewed_triggered_and_explained() {
    Reply made =
        admin.put(
            API + "/schedules/nightly",
            """
            {"cron": "30 2 * * *", "timezone": "Europe/Berlin", "kind": "brief", "args": {"n": 1},
             "dst": {"twice": "both"}, "misfire_grace_seconds": 60, "max_instances": 1}
            """);
    JsonNode next =
        admin.get(API + "/schedules/nightly/next?count=2&from=2026-06-01T00:00:00Z").json();
    Reply fired =
        admin.post(
            API + "/schedules/nightly/trigger", "{\"scheduled_for\": \"2026-06-01T00:30:00Z\"}");
    Reply again =
        admin.post(
            API + "/schedules/nightly/trigger", "{\"scheduled_for\": \"2026-06-01T00:30:00Z\"}");

    assertThat(made.status()).isEqualTo(201);
    assertThat(made.json().path("dst").path("twice").asString()).isEqualTo("both");
    assertThat(next.path("next").toString())
        .isEqualTo("[\"2026-06-01T00:30:00Z\",\"2026-06-02T00:30:00Z\"]");
    assertThat(fired.status()).isEqualTo(201);
    assertThat(again.status()).isEqualTo(409);
    JsonNode slot = admin.get(API + "/schedules/nightly/slots").json().path("slots").get(0);
    assertThat(slot.path("scheduled_for").asString()).isEqualTo("2026-06-01T00:30:00Z");
    assertThat(slot.path("job_id")).isEqualTo(fired.json().path("id"));
    assertThat(admin.send("DELETE", API + "/schedules/nightly", Optional.empty()).status())
        .isEqualTo(200);
    assertThat(admin.get(API + "/schedules/nightly").status()).isEqualTo(404);
    assertThat(
            admin.put(API + "/schedules/x", "{\"cron\": \"nonsense\", \"kind\": \"k\"}").status())
        .isEqualTo(400);
    assertThat(admin.put(API + "/schedules/x", "{\"kind\": \"k\"}").status()).isEqualTo(400);
  }

  @Test
  void backoffs_that_begin_at_their_longest_leave_the_queue_as_it_is_otherwise() {
    int raised = admin.put(API + "/settings/BACKOFF_BASE_SEC", "{\"value\": 7200}").status();
    JsonNode pull = admin.get(API + "/queues/pull").json().path("defaults");

    assertThat(raised).isEqualTo(200);
    assertThat(pull.path("retry").path("base_seconds").asLong()).isEqualTo(7_200);
    assertThat(pull.path("lease_seconds").asLong()).isEqualTo(180);
    assertThat(admin.put(API + "/settings/NOPE", "{\"value\": 1}").status()).isEqualTo(404);
  }

  @Test
  void what_a_queue_says_of_itself_is_what_its_settings_say() {
    admin.put(API + "/queues/pull", "{\"defaults\": {\"lease_seconds\": 11}}");

    JsonNode settings = admin.get(API + "/settings").json().path("settings");

    assertThat(find(settings, "name", "LEASE_SEC_DEFAULT").path("value").asLong()).isEqualTo(11);
    assertThat(find(settings, "name", "MAX_ATTEMPTS_DEFAULT").path("value").asLong()).isEqualTo(3);
  }

  @Test
  void tokens_of_a_tenant_go_with_it() {
    String name = "gone_" + tenant.name();
    String tenants = "{\"name\": \"%s\"}".formatted(name);
    system.post(API + "/tenants", tenants);
    String token =
        TestServer.shared()
            .token(Role.ADMIN, Optional.of(new dev.holdfast.tenant.TenantName(name)));
    Caller theirs = new Caller(system.port(), Optional.of(token), Optional.empty());
    int before = theirs.get(API + "/jobs").status();
    system.send("DELETE", API + "/tenants/" + name, Optional.empty());
    system.post(API + "/tenants", tenants);

    assertThat(before).isEqualTo(200);
    assertThat(theirs.get(API + "/jobs").status()).isEqualTo(401);
    system.send("DELETE", API + "/tenants/" + name, Optional.empty());
  }

  @Test
  void tenants_come_and_go_by_the_api() {
    String name = "by_api_" + tenant.name();

    Reply made = system.post(API + "/tenants", "{\"name\": \"%s\"}".formatted(name));
    Caller inside =
        new Caller(
            system.port(), system.token(), Optional.of(new dev.holdfast.tenant.TenantName(name)));
    int enqueued = inside.post(API + "/jobs", "{\"kind\": \"a\"}").status();
    Reply dropped = system.send("DELETE", API + "/tenants/" + name, Optional.empty());

    assertThat(made.status()).isEqualTo(201);
    assertThat(system.get(API + "/tenants").text()).doesNotContain(name);
    assertThat(enqueued).isEqualTo(201);
    assertThat(dropped.status()).isEqualTo(200);
    assertThat(inside.get(API + "/jobs").status()).isEqualTo(404);
    assertThat(system.post(API + "/tenants", "{\"name\": \"No-Way\"}").status()).isEqualTo(400);
    assertThat(system.send("DELETE", API + "/tenants/default", Optional.empty()).status())
        .isEqualTo(400);
    Caller atHome = new Caller(system.port(), system.token(), Optional.empty());
    assertThat(acts(atHome.get(API + "/audit?limit=1000").json(), "tenant:" + name))
        .containsExactly("drop_tenant", "make_tenant");
  }

  @Test
  void nodes_kinds_and_webhooks_are_kept_and_their_secrets_are_not_told() {
    system.put(API + "/nodes/7", "{\"host\": \"10.0.0.7\", \"port\": 22, \"user\": \"deploy\"}");
    system.put(
        API + "/kinds/site_create", "{\"executor\": \"ansible\", \"playbook\": \"a/b.yml\"}");
    Reply escaping = system.put(API + "/kinds/bad", "{\"playbook\": \"../x.yml\"}");
    Reply hook =
        admin.put(
            API + "/webhooks/ops",
            """
            {"url": "https://example.org/hook", "events": ["job_failed"], "secret": "s3cret"}
            """);

    assertThat(admin.get(API + "/nodes/7").json().path("user").asString()).isEqualTo("deploy");
    assertThat(admin.get(API + "/kinds").text()).contains("a/b.yml");
    assertThat(escaping.status()).isEqualTo(400);
    assertThat(hook.status()).isEqualTo(200);
    assertThat(admin.get(API + "/webhooks").text())
        .contains("example.org")
        .doesNotContain("s3cret");
    assertThat(admin.get(API + "/audit").text()).contains("put_webhook").doesNotContain("s3cret");
    assertThat(system.send("DELETE", API + "/nodes/7", Optional.empty()).status()).isEqualTo(200);
    assertThat(admin.get(API + "/nodes/7").status()).isEqualTo(404);
  }

  @Test
  void a_subject_and_the_invariants_are_shown() {
    tenant
        .jobs()
        .enqueue(
            NewJob.of("a", 1).withSubject(dev.holdfast.job.Subject.of("site", "4", "deploying")));
    tenant
        .holdfast()
        .remoteLeases(tenant.name(), Set::of)
        .claim(ClaimRequest.of("w", Set.of("default"), 1));

    JsonNode subject = admin.get(API + "/subjects/site/4").json();

    assertThat(subject.path("state").asString()).isEqualTo("deploying");
    assertThat(admin.get(API + "/subjects/site/5").status()).isEqualTo(404);
    assertThat(admin.get(API + "/invariants").json().path("violations").size()).isZero();
  }

  private static List<String> acts(JsonNode audit, String about) {
    return audit
        .path("audit")
        .valueStream()
        .filter(row -> row.path("resource").asString("").equals(about))
        .map(row -> row.path("act").asString())
        .toList();
  }

  private static JsonNode find(JsonNode list, String field, String value) {
    for (JsonNode each : list) {
      if (each.path(field).asString("").equals(value)) {
        return each;
      }
    }
    throw new AssertionError("no " + value + " in " + list);
  }
}
