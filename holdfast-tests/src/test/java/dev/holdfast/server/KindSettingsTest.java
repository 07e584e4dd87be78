package dev.holdfast.server;

import static org.assertj.core.api.Assertions.assertThat;

import dev.holdfast.executor.ExecutorConfig;
import dev.holdfast.executor.JobExecutors;
import dev.holdfast.job.Job;
import dev.holdfast.job.JobState;
import dev.holdfast.job.NewJob;
import dev.holdfast.server.Caller.Reply;
import dev.holdfast.server.auth.Role;
import dev.holdfast.testkit.TestTenant;
import java.util.Set;
import java.util.UUID;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import tools.jackson.databind.JsonNode;

/** A kind may fix its command; who enqueues it chooses what is left open, and nothing else. */
class KindSettingsTest {

  private static final String API = "/api/v1";
  private static final String GREET =
      """
      {"executor": "process", "settings": {
         "argv": ["/usr/bin/printf", "%s,", "hello", "{who}", "{more}"],
         "env": {"MODE": "{mode}", "FIXED": "yes"}}}
      """;

  @RegisterExtension final TestTenant tenant = new TestTenant();
  private Caller system;
  private Caller submitter;

  @BeforeEach
  void callers() {
    system = TestServer.shared().as(Role.SYSTEM, tenant.name());
    submitter = TestServer.shared().as(Role.SUBMITTER, tenant.name());
  }

  @Test
  void who_may_only_enqueue_runs_a_command_that_a_kind_fixes() {
    system.put(API + "/kinds/greet", GREET);

    Reply made = enqueue("{\"who\": \"$(id); ls\", \"more\": [\"a b\", \"--c\"], \"mode\": 7}");

    assertThat(made.status()).isEqualTo(201);
    JsonNode args = made.json().path("args");
    assertThat(args.path("argv").valueStream().map(JsonNode::asString))
        .containsExactly("/usr/bin/printf", "%s,", "hello", "$(id); ls", "a b", "--c");
    assertThat(args.path("env").path("MODE").asString()).isEqualTo("7");
    assertThat(args.path("env").path("FIXED").asString()).isEqualTo("yes");
    assertThat(outputOf(args)).isEqualTo("hello,$(id); ls,a b,--c,");
  }

  // As whatever has the executor runs it.
  private String outputOf(JsonNode args) {
    UUID id =
        tenant
            .jobs()
            .enqueue(NewJob.of("process", new dev.holdfast.job.Payload(args.toString())))
            .id();
    try (JobExecutors executors = JobExecutors.open(Set.of("process"), ExecutorConfig.DEFAULTS)) {
      executors.installOn(tenant.worker()).build().runDue();
    }
    Job job = tenant.job(id);
    assertThat(job.state()).isEqualTo(JobState.SUCCEEDED);
    return dev.holdfast.api.Json.parse("result", job.result().orElseThrow().json())
        .path("output")
        .asString();
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "{\"argv\": [\"/bin/sh\"], \"who\": \"x\", \"more\": [], \"mode\": 1}",
        "{\"who\": \"x\", \"more\": []}",
        "{\"who\": {}, \"more\": [], \"mode\": 1}",
        "{\"who\": \"a\\u0000b\", \"more\": [], \"mode\": 1}",
        "{\"who\": \"x\", \"more\": [[]], \"mode\": 1}",
        "[\"x\"]",
        "7"
      })
  void what_is_not_left_open_cannot_be_said_and_what_is_must_be(String args) {
    system.put(API + "/kinds/greet", GREET);

    Reply refused = enqueue(args);

    assertThat(refused.status()).isEqualTo(400);
    assertThat(refused.text()).contains("args");
    assertThat(submitter.get(API + "/jobs").json().path("jobs").size()).isZero();
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "{\"settings\": {\"argv\": [\"/bin/true\"]}}",
        "{\"executor\": \"process\", \"settings\": {}}",
        "{\"executor\": \"process\", \"settings\": {\"argv\": []}}",
        "{\"executor\": \"process\", \"settings\": {\"argv\": [\"{program}\"]}}",
        "{\"executor\": \"process\", \"settings\": {\"argv\": [\"/bin/echo\", \"--a={b}\"]}}",
        "{\"executor\": \"process\", \"settings\": {\"argv\": [\"x {b}\"], \"shell\": true}}",
        "{\"executor\": \"process\", \"settings\": {\"argv\": [\"/x\"], \"env\": {\"A\": \"-{b}\"}}}",
        "{\"executor\": \"process\", \"settings\": {\"argv\": [\"/x\"], \"colour\": \"red\"}}",
        "{\"executor\": \"process\", \"settings\": {\"argv\": [7]}}",
        "{\"executor\": \"container\", \"settings\": {\"command\": [\"/x\"]}}",
        "{\"executor\": \"container\", \"settings\": {\"image\": \"x\", \"open\": [\"image\"]}}",
        "{\"executor\": \"container\", \"settings\": {\"image\": \"x\", \"open\": \"env\"}}",
        "{\"executor\": \"magic\", \"settings\": {}}"
      })
  void a_kind_that_makes_no_sense_is_refused_by_field_and_not_kept(String kind) {
    Reply refused = system.put(API + "/kinds/odd", kind);

    assertThat(refused.status()).isEqualTo(400);
    assertThat(refused.text()).containsAnyOf("settings", "executor");
    assertThat(system.get(API + "/kinds/odd").status()).isEqualTo(404);
  }

  @Test
  void an_executors_own_name_is_not_a_kind_to_register() {
    assertThat(system.put(API + "/kinds/process", GREET).status()).isEqualTo(400);
  }

  @Test
  void what_a_container_is_given_is_fixed_as_well_and_what_is_open_can_be_added() {
    system.put(
        API + "/kinds/train",
        """
        {"executor": "container",
         "settings": {"image": "registry/train:1", "open": ["command"]}}
        """);

    Reply made = train(submitter, "{\"command\": [\"--fast\"], \"memory_mb\": 512}");
    Reply refused = train(submitter, "{\"image\": \"other\"}");

    assertThat(made.status()).as(made.text()).isEqualTo(201);
    assertThat(made.json().path("args").propertyNames())
        .containsExactlyInAnyOrder("image", "command", "memory_mb");
    assertThat(made.json().path("args").path("image").asString()).isEqualTo("registry/train:1");
    assertThat(made.json().path("args").path("command").size()).isEqualTo(1);
    assertThat(refused.status()).isEqualTo(400);
    assertThat(refused.text()).contains("args.image");
  }

  // All of them could be a command: there are programs that run what a variable says.
  @ParameterizedTest
  @ValueSource(
      strings = {
        "\"command\": [\"sh\", \"-c\", \"id\"]",
        "\"entrypoint\": [\"/bin/sh\"]",
        "\"volumes\": [{\"host\": \"/srv\", \"container\": \"/srv\"}]",
        "\"user\": \"0\"",
        "\"secrets\": [\"API_KEY\"]",
        "\"network\": \"bridge\"",
        "\"name\": \"other\"",
        "\"labels\": {\"a\": \"b\"}",
        "\"pull\": \"always\"",
        "\"cwd\": \"/tmp\"",
        "\"open\": [\"command\"]",
        "\"env\": {\"BASH_ENV\": \"$(id)\"}"
      })
  void what_a_kind_does_not_open_is_not_for_submitters_to_say_of_a_container(String argument) {
    system.put(
        API + "/kinds/train",
        "{\"executor\": \"container\", \"settings\": {\"image\": \"registry/train:1\"}}");

    Reply refused = train(submitter, "{" + argument + "}");

    assertThat(refused.status()).isEqualTo(400);
    assertThat(refused.text()).contains("args.");
    assertThat(submitter.get(API + "/jobs").json().path("jobs").size()).isZero();
  }

  @Test
  void an_admin_who_could_run_any_image_may_add_to_a_kinds() {
    system.put(
        API + "/kinds/train",
        "{\"executor\": \"container\", \"settings\": {\"image\": \"registry/train:1\"}}");
    Caller admin = TestServer.shared().as(Role.ADMIN, tenant.name());

    assertThat(train(admin, "{\"command\": [\"--fast\"]}").status()).isEqualTo(201);
    assertThat(train(admin, "{\"image\": \"other\"}").status()).isEqualTo(400);
  }

  private static Reply train(Caller caller, String args) {
    return caller.post(API + "/jobs", "{\"kind\": \"train\", \"args\": %s}".formatted(args));
  }

  @Test
  void secrets_of_the_worker_are_for_kinds_and_admins_to_name() {
    system.put(API + "/kinds/roll", "{\"executor\": \"ansible\", \"playbook\": \"roll.yml\"}");
    system.put(
        API + "/kinds/ping",
        "{\"executor\": \"http\", \"settings\": {\"url\": \"http://example.org/\"}}");
    Caller admin = TestServer.shared().as(Role.ADMIN, tenant.name());
    String free = "{\"kind\": \"http\", \"args\": {\"url\": \"http://example.org/\", %s}}";
    String theirs = "\"secrets\": [\"API_KEY\"]";

    assertThat(submitter.post(API + "/jobs", free.formatted(theirs)).status()).isEqualTo(403);
    assertThat(admin.post(API + "/jobs", free.formatted(theirs)).status()).isEqualTo(201);
    assertThat(submitter.post(API + "/jobs", free.formatted("\"secrets\": []")).status())
        .isEqualTo(201);
    assertThat(roll(theirs).status()).isEqualTo(403);
    assertThat(roll("\"API_KEY\": \"mine\", " + theirs).status()).isEqualTo(201);
    Reply added = submitter.post(API + "/jobs", "{\"kind\": \"ping\", \"args\": {" + theirs + "}}");
    assertThat(added.status()).isEqualTo(400);
    assertThat(added.text()).contains("args.secrets");
  }

  // The called host may show or keep what it is told in other places than the kind chose.
  @Test
  void where_a_kinds_secrets_go_in_a_call_is_for_the_kind_and_admins_to_say() {
    system.put(
        API + "/kinds/note",
        """
        {"executor": "http",
         "settings": {"url": "http://example.org/", "secrets": ["TOKEN", "OTHER"]}}
        """);
    Caller admin = TestServer.shared().as(Role.ADMIN, tenant.name());
    String body = "{\"body\": \"all of it: ${TOKEN}\"}";
    String header = "{\"headers\": {\"X-Name\": \"${OTHER}\"}}";

    assertPlacedByNobody(note(submitter, body), "args.body", "${TOKEN}");
    assertPlacedByNobody(note(submitter, header), "args.headers.X-Name", "${OTHER}");
    Reply scheduled =
        TestServer.shared()
            .as(Role.OPERATOR, tenant.name())
            .put(
                API + "/schedules/noting",
                "{\"every_seconds\": 60, \"kind\": \"note\", \"args\": %s}".formatted(body));
    assertPlacedByNobody(scheduled, "args.body", "${TOKEN}");
    assertThat(submitter.get(API + "/jobs").json().path("jobs").size()).isZero();

    Reply none = note(submitter, "{\"body\": \"${NO_SECRET} $TOKEN {TOKEN}\"}");
    assertThat(none.status()).as(none.text()).isEqualTo(201);
    assertThat(note(admin, body).status()).isEqualTo(201);
  }

  private static Reply note(Caller caller, String args) {
    return caller.post(API + "/jobs", "{\"kind\": \"note\", \"args\": %s}".formatted(args));
  }

  private static void assertPlacedByNobody(Reply reply, String field, String mention) {
    assertThat(reply.status()).as(reply.text()).isEqualTo(400);
    assertThat(reply.text()).contains(field, mention);
  }

  private Reply roll(String args) {
    return submitter.post(API + "/jobs", "{\"kind\": \"roll\", \"args\": {" + args + "}}");
  }

  @Test
  void a_schedule_can_be_put_as_it_was_got() {
    system.put(API + "/kinds/greet", GREET);
    Caller operator = TestServer.shared().as(Role.OPERATOR, tenant.name());
    operator.put(
        API + "/schedules/nightly",
        """
        {"cron": "0 3 * * *", "timezone": "Europe/Berlin", "kind": "greet", "max_attempts": 5,
         "args": {"who": "x", "more": [], "mode": 1}, "priority": 3, "resources": ["site:1"]}
        """);
    String got = operator.get(API + "/schedules/nightly").text();

    Reply again = operator.put(API + "/schedules/nightly", got);

    assertThat(again.text()).isEqualTo(got);
    assertThat(again.status()).isEqualTo(200);
    assertThat(operator.put(API + "/schedules/other", got).text()).contains("name");
  }

  @Test
  void a_viewer_does_not_see_what_a_kind_fixes() {
    system.put(API + "/kinds/greet", GREET);
    Caller viewer = TestServer.shared().as(Role.VIEWER, tenant.name());

    assertThat(viewer.get(API + "/kinds/greet").text()).doesNotContain("printf");
    assertThat(viewer.get(API + "/kinds").text()).doesNotContain("printf");
    assertThat(submitter.get(API + "/kinds/greet").text()).contains("printf");
  }

  private Reply enqueue(String args) {
    return submitter.post(API + "/jobs", "{\"kind\": \"greet\", \"args\": %s}".formatted(args));
  }
}
