package dev.holdfast.cli;

import static org.assertj.core.api.Assertions.assertThat;

import dev.holdfast.cli.Verb.Place;
import dev.holdfast.server.HoldfastServer;
import dev.holdfast.server.ServerConfig;
import dev.holdfast.server.ServerRole;
import dev.holdfast.server.http.Route;
import dev.holdfast.testkit.TestDatabase;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.UUID;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import picocli.CommandLine;

/** People at a terminal can ask for everything that the API has, and read what comes back. */
class VerbsTest {

  private static final String API = "/api/v1";
  private static final String END_OF_LINE = System.lineSeparator();
  private static final Pattern ID = Pattern.compile("[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}");

  // Of workers, not of people; and those that have commands of their own.
  private static final Set<String> OTHERS =
      Set.of(
          "POST /leases",
          "POST /leases/start",
          "POST /leases/extend",
          "POST /leases/finish",
          "POST /jobs/{id}/progress",
          "POST /jobs/{id}/logs",
          "GET /jobs/{id}/runbook",
          "POST /workers/heartbeat",
          "GET /jobs/{id}/logs",
          "GET /events",
          "POST /jobs/batch",
          "GET /doctor");

  @TempDir private static Path data;
  private static HoldfastServer server;

  private record Said(int code, String out, String err) {}

  @BeforeAll
  static void start() {
    server =
        HoldfastServer.start(
            ServerConfig.defaults(data)
                .withAddress("127.0.0.1", 0)
                .withRoles(Set.of(ServerRole.WEB))
                .withUpkeep(false),
            TestDatabase.shared().dataSource(),
            Map.of());
  }

  @AfterAll
  static void stop() {
    server.close();
  }

  @Test
  void every_request_for_people_is_a_command_and_says_what_the_api_knows() {
    Map<String, Route> routes =
        server.routes().stream()
            .filter(route -> route.path().startsWith(API))
            .collect(
                java.util.stream.Collectors.toMap(
                    route -> route.method() + " " + route.path().substring(API.length()),
                    route -> route));
    for (Verb verb : Verbs.all()) {
      assertThat(routes).containsKey(verb.method() + " " + verb.path());
      Route route = java.util.Objects.requireNonNull(routes.get(verb.method() + " " + verb.path()));
      for (Verb.Part part : verb.parts()) {
        String name = part.name().contains(".") ? "filter" : part.name();
        assertThat(part.place() == Place.QUERY ? route.queries() : route.fields())
            .as(verb.words() + " " + part.name())
            .contains(name);
      }
    }
    List<String> commands =
        Verbs.all().stream().map(verb -> verb.method() + " " + verb.path()).toList();
    assertThat(routes.keySet()).filteredOn(route -> !OTHERS.contains(route)).isSubsetOf(commands);
  }

  @Test
  void a_job_is_enqueued_seen_explained_acted_on_and_removed() {
    String tenant = "cli_" + UUID.randomUUID().toString().substring(0, 8);
    assertThat(run("tenants", "create", tenant).code()).isZero();
    try {
      Said made =
          in(tenant, "enqueue", "deploy", "--args", "{\"n\": 1}", "--resources", "site:1,node:7");
      String id = id(made.out());

      assertThat(made.out()).contains("deploy", "node:7,site:1");
      assertThat(in(tenant, "jobs", "list", "--state", "queued").out())
          .contains("ID", "STATE", id, "queued");
      assertThat(in(tenant, "jobs", "list", "-o", "json").out()).startsWith("{\"jobs\":[{");
      assertThat(in(tenant, "jobs", "why", id).out()).contains("no_worker");
      assertThat(in(tenant, "jobs", "each", "pause", "--kind", "deploy", "--dry-run").out())
          .contains("would");
      assertThat(in(tenant, "jobs", "pause", id, "--reason", "later").out()).contains("paused");
      assertThat(in(tenant, "jobs", "retry", id))
          .satisfies(said -> assertThat(said.code()).isEqualTo(6))
          .satisfies(said -> assertThat(said.err()).contains("paused"));
      assertThat(in(tenant, "jobs", "wait", id, "--timeout", "0").code()).isEqualTo(124);
      assertThat(in(tenant, "jobs", "cancel", id).code()).isZero();
      assertThat(in(tenant, "jobs", "wait", id).code()).isEqualTo(1);
      assertThat(in(tenant, "jobs", "logs", id, "-f").code()).isZero();
      assertThat(in(tenant, "audit", "list").out()).contains("cancel", "later");
      assertThat(in(tenant, "jobs", "delete", id).code()).isZero();
      assertThat(in(tenant, "jobs", "show", id).code()).isEqualTo(5);
      assertThat(in(tenant, "invariants", "check").out()).contains("(none)");
    } finally {
      run("tenants", "drop", tenant);
    }
  }

  @Test
  void the_rest_of_a_tenant_is_set_and_shown() {
    String tenant = "cli_" + UUID.randomUUID().toString().substring(0, 8);
    run("tenants", "create", tenant);
    try {
      assertThat(in(tenant, "queues", "set", "mail", "--paused", "true").out()).contains("true");
      assertThat(in(tenant, "queues", "list").out()).contains("mail");
      assertThat(in(tenant, "resources", "set", "site:1", "--capacity", "3").out()).contains("3");
      assertThat(
              in(tenant, "schedules", "set", "nightly", "--cron", "30 2 * * *", "--kind", "brief")
                  .code())
          .isZero();
      assertThat(in(tenant, "schedules", "next", "nightly", "--count", "2").out())
          .contains("T02:30:00Z");
      assertThat(in(tenant, "schedules", "trigger", "nightly").out()).contains("brief");
      assertThat(in(tenant, "settings", "set", "LEASE_SEC_DEFAULT", "90").code()).isZero();
      assertThat(in(tenant, "settings", "list").out()).contains("LEASE_SEC_DEFAULT", "90");
      assertThat(in(tenant, "kinds", "set", "x", "--executor", "process").code()).isZero();
      assertThat(in(tenant, "nodes", "set", "7", "--host", "10.0.0.7").code()).isZero();
      assertThat(in(tenant, "nodes", "list").out()).contains("10.0.0.7");
      assertThat(in(tenant, "tokens", "create", "ci", "--role", "viewer").out()).contains("hf_");
      assertThat(in(tenant, "tokens", "list").out()).contains("viewer").doesNotContain("hf_");
      assertThat(in(tenant, "workers", "list").code()).isZero();
    } finally {
      run("tenants", "drop", tenant);
    }
  }

  @Test
  void what_is_wrong_is_said_in_a_sentence_with_a_code_of_its_own() {
    assertThat(run("jobs", "show", "nonsense"))
        .satisfies(said -> {
          assertThat(said.code()).isEqualTo(7);
          assertThat(said.err()).contains("id is \"nonsense\"; allowed: a UUID");
        });
    assertThat(execute("jobs", "lists"))
        .satisfies(said -> {
          assertThat(said.code()).isEqualTo(2);
          assertThat(said.err()).contains("jobs list");
        });
    assertThat(execute("jobs", "list", "--server", "http://127.0.0.1:1").code()).isEqualTo(3);
  }

  @Test
  void a_value_that_cannot_be_is_refused_by_its_option_in_words() {
    assertThat(run("enqueue", "k", "--priority", "high"))
        .isEqualTo(
            new Said(7, "", "holdfast: --priority is \"high\"; allowed: a number" + END_OF_LINE));
    assertThat(run("enqueue", "k", "--args", "{")).extracting(Said::code).isEqualTo(7);
    assertThat(run("jobs", "wait", "nonsense"))
        .isEqualTo(new Said(7, "", "holdfast: id is \"nonsense\"; allowed: a UUID" + END_OF_LINE));
  }

  @Test
  void whoever_waits_in_vain_is_told_so_as_json_where_that_is_asked_for() {
    String id = id(run("enqueue", "nobody-runs-it", "--pending").out());

    Said said = run("jobs", "wait", id, "--timeout", "0", "-o", "json");
    run("jobs", "cancel", id);

    assertThat(said.code()).isEqualTo(124);
    assertThat(said.out().strip()).isEqualTo("{\"id\":\"%s\",\"state\":\"pending\"}".formatted(id));
  }

  private static Said in(String tenant, String... arguments) {
    return run(plus(arguments, "--tenant", tenant));
  }

  private static Said run(String... arguments) {
    return execute(
        plus(
            arguments,
            "--server",
            "http://127.0.0.1:" + server.port().orElseThrow(),
            "--token-file",
            data.resolve("admin.token").toString()));
  }

  private static String[] plus(String[] arguments, String... more) {
    return java.util.stream.Stream.of(arguments, more)
        .flatMap(java.util.Arrays::stream)
        .toArray(String[]::new);
  }

  private static Said execute(String... arguments) {
    StringWriter out = new StringWriter();
    StringWriter err = new StringWriter();
    CommandLine main = Main.commandLine().setOut(new PrintWriter(out)).setErr(new PrintWriter(err));
    int code = main.execute(arguments);
    return new Said(code, out.toString(), err.toString());
  }

  private static String id(String text) {
    Matcher found = ID.matcher(text);
    assertThat(found.find()).as(text).isTrue();
    return found.group();
  }
}
