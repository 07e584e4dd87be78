package dev.holdfast.server;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;

import dev.holdfast.job.Limits;
import dev.holdfast.server.Caller.Reply;
import dev.holdfast.server.auth.Role;
import dev.holdfast.tenant.TenantName;
import dev.holdfast.testkit.TestTenant;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpRequest.BodyPublishers;
import java.net.http.HttpResponse;
import java.net.http.HttpResponse.BodyHandlers;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.zip.GZIPOutputStream;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import tools.jackson.databind.JsonNode;

/** What clients rely on that were written from the contract alone, in whatever language. */
class WireDetailsTest {

  private static final String API = "/api/v1";
  private static final String JOBS = API + "/jobs";

  @RegisterExtension final TestTenant tenant = new TestTenant();

  private Caller admin;
  private Caller system;

  @BeforeEach
  void connect() {
    admin = TestServer.shared().as(Role.ADMIN, tenant.name());
    system = TestServer.shared().as(Role.SYSTEM, tenant.name());
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      value = {
        "{\"kind\": \"k\", \"delay_seconds\": -1}|delay_seconds is -1",
        "{\"kind\": \"k\", \"timeout_seconds\": 0}|timeout_seconds is 0",
        "{\"kind\": \"k\", \"timeout_seconds\": 2592001}|0.001 to 2592000",
        "{\"kind\": \"k\", \"lease_seconds\": 0.5}|lease_seconds is 0.5 s",
        "{\"kind\": \"k\", \"lease_seconds\": 90000}|lease_seconds is 90000 s",
      })
  void a_refusal_names_the_field_as_it_was_sent(String job, String said) {
    Reply refused = admin.post(JOBS, job);

    assertThat(refused.status()).isEqualTo(400);
    assertThat(refused.json().path("detail").asString()).contains(said);
  }

  @Test
  void a_refusal_that_repeats_what_was_sent_is_utf_8_like_every_json() throws Exception {
    HttpRequest refused =
        request(JOBS)
            .header("Content-Type", "application/json")
            .POST(BodyPublishers.ofString("{\"kind\": \"k\", \"on_stop\": \"żółw é\"}"))
            .build();

    try (HttpClient http = HttpClient.newHttpClient()) {
      byte[] body = http.send(refused, BodyHandlers.ofByteArray()).body();

      assertThat(new String(body, UTF_8)).contains("żółw é");
    }
  }

  @Test
  void too_much_is_refused_by_the_name_of_the_field_that_has_it() {
    String much = "\"" + "x".repeat(Limits.PAYLOAD_BYTES) + "\"";
    String id = admin.post(JOBS, "{\"kind\": \"k\"}").json().path("id").asString();
    admin.post(JOBS + "/" + id + "/pause", "");

    Reply args = admin.post(JOBS, "{\"kind\": \"k\", \"args\": " + much + "}");
    Reply result = admin.post(JOBS + "/" + id + "/resolve", "{\"result\": " + much + "}");

    assertThat(args.json().path("detail").asString()).startsWith("args is");
    assertThat(result.json().path("detail").asString()).startsWith("result is");
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      value = {
        "{\"queue\": \"q\"}|jobs[1].kind is",
        "{\"kind\": \"\"}|jobs[1].kind is",
        "{\"kind\": \"k\", \"on_stop\": \"x\"}|jobs[1].on_stop is",
        "{\"kind\": \"k\", \"subject\": {\"type\": \"t\"}}|jobs[1].subject.id is",
      })
  void a_batch_says_which_of_its_jobs_is_wrong(String wrong, String said) {
    Reply refused = admin.post(JOBS + "/batch", "{\"jobs\": [{\"kind\": \"k\"}, " + wrong + "]}");

    assertThat(refused.status()).isEqualTo(400);
    assertThat(refused.json().path("detail").asString()).startsWith(said);
    assertThat(admin.get(JOBS).json().path("jobs").isEmpty()).isTrue();
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      value = {
        "\"outcome\": \"bogus\"|results[0].outcome is",
        "\"outcome\": \"snoozed\", \"delay_seconds\": -1|results[0].delay_seconds is -1; allowed: seconds, 0 to ",
      })
  void a_worker_learns_which_of_its_results_is_wrong(String outcome, String said) {
    String result =
        "{\"job_id\": \"a32f5b4e-9c1a-4b3e-8f00-2f1f0d1f1a11\", \"fence\": 1, " + outcome + "}";

    Reply refused =
        admin.post(API + "/leases/finish", "{\"worker\": \"w\", \"results\": [" + result + "]}");

    assertThat(refused.status()).isEqualTo(400);
    assertThat(refused.json().path("detail").asString()).startsWith(said);
  }

  @Test
  void a_batch_that_is_sent_again_has_made_nothing_and_says_so() {
    String batch =
        "{\"jobs\": [{\"id\": \"a32f5b4e-9c1a-4b3e-8f00-2f1f0d1f1a11\", \"kind\": \"k\"}]}";

    assertThat(admin.post(JOBS + "/batch", batch).status()).isEqualTo(201);
    assertThat(admin.post(JOBS + "/batch", batch).status()).isEqualTo(200);
  }

  @Test
  void a_method_that_is_not_served_is_answered_with_those_that_are() throws Exception {
    HttpResponse<String> answer =
        send(request(JOBS).method("DELETE", BodyPublishers.noBody()).build());

    assertThat(answer.statusCode()).isEqualTo(405);
    assertThat(answer.headers().firstValue("Allow").orElse("").split(", "))
        .containsExactlyInAnyOrder("GET", "HEAD", "POST");
  }

  @Test
  void a_compressed_body_is_refused_as_such() throws Exception {
    ByteArrayOutputStream bytes = new ByteArrayOutputStream();
    try (GZIPOutputStream out = new GZIPOutputStream(bytes)) {
      out.write("{\"kind\": \"k\"}".getBytes(UTF_8));
    }
    HttpResponse<String> answer =
        send(
            request(JOBS)
                .header("Content-Type", "application/json")
                .header("Content-Encoding", "gzip")
                .POST(BodyPublishers.ofByteArray(bytes.toByteArray()))
                .build());

    assertThat(answer.statusCode()).isEqualTo(415);
    assertThat(answer.body()).contains("gzip");
  }

  @Test
  void an_address_that_is_too_long_is_not_the_servers_fault() throws Exception {
    HttpResponse<String> answer =
        send(request(JOBS + "?queue=" + "q".repeat(20_000)).GET().build());

    assertThat(answer.statusCode()).isEqualTo(414);
    assertThat(answer.body()).contains("Address too long");
  }

  @ParameterizedTest
  @CsvSource({"queues, name", "kinds, name", "nodes, id"})
  void what_was_got_can_be_put_back_under_its_own_name_alone(String things, String named) {
    String path = API + "/" + things + "/one";
    system.put(path, things.equals("nodes") ? "{\"host\": \"h\"}" : "{}");
    String got = system.get(path).text();

    assertThat(system.put(path, got).text()).isEqualTo(got);
    Reply other = system.put(API + "/" + things + "/another", got);
    assertThat(other.status()).isEqualTo(400);
    assertThat(other.json().path("detail").asString()).startsWith(named + " is \"one\"");
  }

  @Test
  void a_schedule_without_a_zone_says_one_that_everybody_knows() {
    Reply made =
        admin.put(API + "/schedules/nightly", "{\"cron\": \"0 3 * * *\", \"kind\": \"k\"}");

    assertThat(made.json().path("timezone").asString()).isEqualTo("UTC");
    assertThat(admin.put(API + "/schedules/nightly", made.text()).text()).isEqualTo(made.text());
  }

  @Test
  void a_report_before_the_start_has_not_lost_its_lease() {
    String id =
        admin.post(JOBS, "{\"kind\": \"k\", \"queue\": \"q\"}").json().path("id").asString();
    JsonNode lease =
        admin
            .post(
                API + "/leases", "{\"worker\": \"w\", \"queues\": [\"q\"], \"acknowledge\": true}")
            .json()
            .at("/leases/0");
    long fence = lease.path("fence").asLong();

    Reply early = admin.post(JOBS + "/" + id + "/progress", "{\"fence\": %d}".formatted(fence));
    Reply stale = admin.post(JOBS + "/" + id + "/progress", "{\"fence\": %d}".formatted(fence - 1));
    Reply nothing = admin.post(JOBS + "/" + id + "/logs", "{\"fence\": %d}".formatted(fence));

    assertThat(early.status()).isEqualTo(409);
    assertThat(early.code()).isEqualTo("STATE_CONFLICT");
    assertThat(early.json().path("state").asString()).isEqualTo("dispatched");
    assertThat(stale.code()).isEqualTo("LEASE_LOST");
    assertThat(nothing.status()).isEqualTo(400);
    assertThat(nothing.json().path("detail").asString()).startsWith("lines is");
  }

  @Test
  void a_tenant_that_is_not_there_is_said_to_be_missing_and_no_more() {
    Caller lost = new Caller(system.port(), system.token(), Optional.of(new TenantName("nosuch")));

    assertThat(lost.get(JOBS).status()).isEqualTo(404);
    assertThat(lost.get(JOBS).json().path("detail").asString()).isEqualTo("no tenant nosuch");
  }

  @Test
  void tenants_are_listed_page_by_page() {
    List<String> all = new ArrayList<>();
    Optional<String> after = Optional.of("");
    while (after.isPresent()) {
      JsonNode page = system.get(API + "/tenants?limit=2&after=" + after.get()).json();
      page.path("tenants").forEach(each -> all.add(each.path("name").asString()));
      after = page.path("after").stringValueOpt();
    }

    assertThat(all).contains(tenant.name().value()).doesNotHaveDuplicates().isSorted();
  }

  private HttpRequest.Builder request(String path) {
    return HttpRequest.newBuilder(URI.create("http://127.0.0.1:" + admin.port() + path))
        .header("Authorization", "Bearer " + admin.token().orElseThrow())
        .header("X-Holdfast-Tenant", tenant.name().value());
  }

  private static HttpResponse<String> send(HttpRequest request)
      throws IOException, InterruptedException {
    try (HttpClient http = HttpClient.newHttpClient()) {
      return http.send(request, BodyHandlers.ofString());
    }
  }
}
