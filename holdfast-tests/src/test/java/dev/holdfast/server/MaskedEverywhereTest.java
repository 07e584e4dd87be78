package dev.holdfast.server;

import static org.assertj.core.api.Assertions.assertThat;

import dev.holdfast.job.NewJob;
import dev.holdfast.job.Payload;
import dev.holdfast.schedule.Planned;
import dev.holdfast.server.Caller.Reply;
import dev.holdfast.server.auth.Role;
import dev.holdfast.testkit.TestTenant;
import java.util.List;
import java.util.UUID;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

/** What is named as a secret is shown to nobody, whichever door they come by. */
class MaskedEverywhereTest {

  private static final String API = "/api/v1";
  private static final String SECRET = "tiger-0815";
  private static final String ARGS =
      "{\"env\": {\"PASSWORD\": \"tiger-0815\", \"MODE\": \"open\"}, \"secrets\": [\"PASSWORD\"]}";
  private static final String EVERY_DAY =
      "{\"kind\": \"%s\", \"every_seconds\": 86400, \"args\": %s}";

  @RegisterExtension final TestTenant tenant = new TestTenant();
  private Caller system;
  private Caller admin;
  private Caller operator;

  @BeforeEach
  void callers() {
    system = TestServer.shared().as(Role.SYSTEM, tenant.name());
    admin = TestServer.shared().as(Role.ADMIN, tenant.name());
    operator = TestServer.shared().as(Role.OPERATOR, tenant.name());
  }

  @Test
  void parameters_of_targets_are_masked() {
    String jobs = "/targets/" + UUID.randomUUID() + "/jobs/";
    Caller submitter = TestServer.shared().as(Role.SUBMITTER, tenant.name());

    Reply made = submitter.post(jobs, "{\"api_name\": \"sync\", \"parameters\": " + ARGS + "}");

    assertThat(made.status()).as(made.text()).isLessThan(300);
    for (Reply shown : List.of(made, submitter.get(jobs), submitter.get("/jobs/"))) {
      assertThat(shown.text()).contains("***", "open").doesNotContain(SECRET);
    }
  }

  @Test
  void where_the_whole_environment_is_a_secret_all_of_it_is_masked() {
    Caller submitter = TestServer.shared().as(Role.SUBMITTER, tenant.name());

    Reply made =
        submitter.post(
            API + "/jobs",
            """
            {"kind": "sync",
             "args": {"env": {"PASSWORD": "tiger-0815", "PIN": "tiger-0815"}, "secrets": ["env"]}}
            """);

    assertThat(made.status()).as(made.text()).isEqualTo(201);
    assertThat(made.text()).contains("***", "PIN").doesNotContain(SECRET);
  }

  @Test
  void a_schedules_arguments_are_masked_and_a_mask_that_is_put_back_is_what_it_hides() {
    String one = API + "/schedules/nightly";
    Reply made = operator.put(one, EVERY_DAY.formatted("sync", ARGS));

    Reply got = operator.get(one);
    Reply again = operator.put(one, got.text().replace("\"open\"", "\"closed\""));

    assertThat(made.status()).isEqualTo(201);
    assertThat(again.status()).as(again.text()).isEqualTo(200);
    for (Reply shown :
        List.of(
            made,
            got,
            again,
            operator.get(API + "/schedules"),
            operator.get("/ui/schedule?name=nightly"))) {
      assertThat(shown.text()).contains("***").doesNotContain(SECRET);
    }
    assertThat(stored()).contains(SECRET, "closed");
  }

  // Else whoever may not see it could have it told: by a kind that tells, or by not naming it.
  @Test
  void a_mask_stands_for_nothing_under_another_kind_or_when_it_is_no_secret_any_more() {
    String one = API + "/schedules/nightly";
    operator.put(one, EVERY_DAY.formatted("sync", ARGS));
    String masked = ARGS.replace(SECRET, "***");

    operator.put(one, EVERY_DAY.formatted("tell", masked));
    assertThat(stored()).contains("***").doesNotContain(SECRET);

    operator.put(one, EVERY_DAY.formatted("sync", ARGS));
    operator.put(one, EVERY_DAY.formatted("sync", masked.replace("[\"PASSWORD\"]", "[]")));
    assertThat(stored()).contains("***").doesNotContain(SECRET);
  }

  private String stored() {
    NewJob job = tenant.schedules().get("nightly").map(Planned::schedule).orElseThrow().job();
    return ((Payload) job.args()).json();
  }

  @Test
  void what_a_kind_fixes_is_masked_and_stays_when_it_is_put_as_it_was_got() {
    String one = API + "/kinds/greet";
    String kind =
        "{\"executor\": \"process\", \"settings\": {\"argv\": [\"/bin/true\"], \"env\": {\"PASSWORD\":"
            + " \"tiger-0815\", \"MODE\": \"open\"}, \"secrets\": [\"PASSWORD\"]}}";
    Reply made = system.put(one, kind);

    Reply again = system.put(one, kind.replace(SECRET, "***"));

    assertThat(again.status()).as(again.text()).isEqualTo(200);
    for (Reply shown :
        List.of(
            made,
            again,
            system.get(one),
            system.get(API + "/kinds"),
            operator.get(API + "/audit"))) {
      assertThat(shown.text()).contains("***", "open").doesNotContain(SECRET);
    }
    Reply job = admin.post(API + "/jobs", "{\"kind\": \"greet\"}");
    UUID id = UUID.fromString(job.json().path("id").asString());
    assertThat(tenant.job(id).args().json()).contains(SECRET);
    assertThat(job.text()).doesNotContain(SECRET);
  }

  @Test
  void a_kind_that_names_what_it_needs_as_secrets_can_still_be_looked_at() {
    Reply made =
        system.put(
            API + "/kinds/odd",
            "{\"executor\": \"process\", \"settings\": {\"argv\": [\"/bin/true\"], \"secrets\":"
                + " [\"argv\", \"env\"]}}");

    assertThat(made.status()).isEqualTo(200);
    assertThat(system.get(API + "/kinds/odd").status()).isEqualTo(200);
    assertThat(system.get(API + "/kinds").status()).isEqualTo(200);
  }

  @Test
  void the_audit_has_of_a_webhooks_address_only_where_it_leads() {
    admin.put(
        API + "/webhooks/chat",
        "{\"url\": \"https://hooks.example.org:8443/services/T0/tiger-0815?key=tiger-0815\","
            + " \"events\": [\"job_failed\"], \"secret\": \"s\"}");

    assertThat(operator.get(API + "/audit").text())
        .contains("https://hooks.example.org:8443")
        .doesNotContain(SECRET, "services");
  }
}
