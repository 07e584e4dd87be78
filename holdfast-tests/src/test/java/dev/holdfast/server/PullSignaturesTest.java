package dev.holdfast.server;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.holdfast.audit.Act;
import dev.holdfast.error.HoldfastException;
import dev.holdfast.job.NewJob;
import dev.holdfast.server.Caller.Reply;
import dev.holdfast.server.auth.Role;
import dev.holdfast.testkit.TestDatabase;
import dev.holdfast.testkit.TestTenant;
import java.security.MessageDigest;
import java.time.Instant;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HexFormat;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.UUID;
import javax.crypto.Mac;
import javax.crypto.spec.SecretKeySpec;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

/** Pull workers that sign what they send. */
class PullSignaturesTest {

  private static final String SECRET = "a secret of two dozen letters";
  private static final String PULL = "/api/pull_job";
  private static final String REPORT = "/api/report_results";

  @RegisterExtension final TestTenant tenant = new TestTenant();
  @RegisterExtension final TestTenant other = new TestTenant();

  @Test
  void a_signature_serves_as_well_as_a_token() throws Exception {
    put(SECRET);
    UUID id = enqueue();
    TestServer server = TestServer.shared();

    Reply pulled = signed(server, "GET", PULL, "", SECRET, now());
    String attempt = pulled.json().path("job").path("attempt_id").asString();
    Reply done =
        signed(
            server,
            "POST",
            REPORT,
            "{\"job_id\": \"%s\", \"attempt_id\": %s, \"done\": true}".formatted(id, attempt),
            SECRET,
            now());

    assertThat(pulled.json().path("job").path("id").asString()).isEqualTo(id.toString());
    assertThat(done.json().path("done").asBoolean()).isTrue();
  }

  @Test
  void a_wrong_or_old_signature_is_401_and_a_replayed_one_409_on_every_node() throws Exception {
    put(SECRET);
    UUID id = enqueue();
    TestServer server = TestServer.shared();
    String report = "{\"job_id\": \"%s\"}".formatted(id);

    assertThat(signed(server, "GET", PULL, "", "another secret altogether", now()).status())
        .isEqualTo(401);
    assertThat(signed(server, "GET", PULL, "", SECRET, now() - 310).status()).isEqualTo(401);
    assertThat(signed(server, "GET", PULL, "", SECRET, now() + 310).status()).isEqualTo(401);
    for (String sign : List.of("", "00", "g".repeat(64), "0".repeat(64))) {
      assertThat(
              send(server, "GET", PULL, "", Map.of("X-Auth-Sign", sign, "X-Auth-Ts", "" + now()))
                  .status())
          .as(sign)
          .isEqualTo(401);
    }
    assertThat(send(server, "GET", PULL, "", Map.of("X-Auth-Sign", "0".repeat(64))).status())
        .isEqualTo(401);
    long time = now();
    Map<String, String> headers = headers("POST", path(REPORT), report, SECRET, time);
    assertThat(send(server, "POST", REPORT, report + " ", headers).status())
        .as("another body")
        .isEqualTo(401);
    assertThat(send(server, "GET", PULL, "", headers).status()).as("another path").isEqualTo(401);

    Reply first = send(server, "POST", REPORT, report, headers);
    Reply again = send(server, "POST", REPORT, report, headers);

    assertThat(first.status()).as("served, though it has no lease").isEqualTo(409);
    assertThat(first.text()).contains("lease");
    assertThat(again.status()).isEqualTo(409);
    assertThat(again.json().path("detail").asString()).contains("signature");
    try (TestServer second = TestServer.start()) {
      assertThat(send(second, "POST", REPORT, report, headers).text()).contains("signature");
    }
  }

  @Test
  void once_there_is_a_secret_nobody_is_served_without_it_where_nothing_else_is_asked_for()
      throws Exception {
    UUID id = enqueue();
    TestServer open = TestServer.open();
    assertThat(
            send(open, "GET", PULL + "?lease_sec=5", "", Map.of("X-Auth-Sign", "what ever"))
                .status())
        .as("signed for a server that has no secret")
        .isEqualTo(200);
    tenant.acts().requeue(id, Act.by("ada").withForce());

    put(SECRET);

    assertThat(send(open, "GET", PULL, "", Map.of()).status()).isEqualTo(401);
    assertThat(tenant.job(id).lease()).isEmpty();
    assertThat(signed(open, "GET", PULL, "", SECRET, now()).status()).isEqualTo(200);
    assertThat(tenant.job(id).lease()).isPresent();
    admin().send("DELETE", "/api/v1/pull-secret", Optional.empty());
    assertThat(send(open, "GET", PULL, "", Map.of()).status()).isEqualTo(200);
  }

  @Test
  void a_signature_is_good_for_its_tenant_and_its_two_paths_alone() throws Exception {
    put(SECRET);
    enqueue();
    TestServer server = TestServer.shared();
    long time = now();
    String elsewhere = "/t/" + other.name().value() + PULL;
    Map<String, String> headers = headers("GET", elsewhere, "", SECRET, time);

    assertThat(PlainHttp.at(root(server)).with(headers).get(elsewhere).status()).isEqualTo(401);
    Map<String, String> jobs =
        headers("GET", "/t/" + tenant.name().value() + "/jobs/", "", SECRET, time);
    assertThat(send(server, "GET", "/jobs/", "", jobs).status()).isEqualTo(401);
    assertThat(
            PlainHttp.at(root(server))
                .with(headers("GET", "/t/nobody_has_it" + PULL, "", SECRET, time))
                .get("/t/nobody_has_it" + PULL)
                .status())
        .isEqualTo(401);
  }

  @Test
  void nobody_learns_by_a_wrong_signature_which_tenants_there_are_or_have_a_secret()
      throws Exception {
    put(SECRET);
    List<String> tenants =
        List.of(tenant.name().value(), other.name().value(), "nobody_has_it", "default");
    for (long time : new long[] {now(), now() - 310}) {
      List<Reply> replies = new ArrayList<>();
      for (String name : tenants) {
        String path = "/t/" + name + PULL;
        replies.add(
            PlainHttp.at(root(TestServer.shared()))
                .with(headers("GET", path, "", "not a tenant's secret", time))
                .get(path));
      }

      assertThat(replies).extracting(Reply::status).containsOnly(401);
      assertThat(replies).extracting(Reply::text).containsOnly(replies.getFirst().text());
    }
  }

  @Test
  void who_sends_a_token_is_judged_by_that() throws Exception {
    enqueue();
    String token = TestServer.shared().token(Role.WORKER, Optional.of(tenant.name()));
    Map<String, String> both =
        new HashMap<>(headers("GET", path(PULL), "", "not a tenant's secret", now()));
    both.put("Authorization", "Bearer " + token);

    assertThat(send(TestServer.shared(), "GET", PULL, "", both).status()).isEqualTo(200);
    put(SECRET);
    assertThat(send(TestServer.shared(), "GET", PULL, "", both).status()).isEqualTo(200);
    both.put("Authorization", "Bearer " + token.replaceFirst("...$", "___"));
    assertThat(send(TestServer.shared(), "GET", PULL, "", both).status()).isEqualTo(401);
  }

  @Test
  void what_a_proxy_says_of_itself_is_no_token() throws Exception {
    put(SECRET);
    Map<String, String> both = new HashMap<>(headers("GET", path(PULL), "", SECRET, now()));
    both.put("Authorization", "Basic cHJveHk6cHJveHk=");

    assertThat(send(TestServer.shared(), "GET", PULL, "", both).status()).isEqualTo(200);
  }

  @Test
  void the_secret_is_nowhere_to_be_seen() {
    put(SECRET);

    assertThat(admin().get("/api/v1/settings").text()).doesNotContain(SECRET);
    assertThat(admin().get("/api/v1/audit").text())
        .contains("put_pull_secret")
        .doesNotContain(SECRET);
    for (String bad : List.of("short", "x".repeat(201), "with a\\nline feed in it")) {
      Reply refused = admin().put("/api/v1/pull-secret", "{\"secret\": \"%s\"}".formatted(bad));
      assertThat(refused.status()).isEqualTo(400);
      assertThat(refused.json().path("detail").asString())
          .contains("secret")
          .doesNotContain("line");
    }
  }

  @Test
  void the_environments_secret_must_be_one() {
    assertThatThrownBy(() ->
            HoldfastServer.start(
                TestServer.config(),
                TestDatabase.shared().dataSource(),
                Map.of("HOLDFAST_PULL_SECRET", "tiny")))
        .isInstanceOf(HoldfastException.class)
        .hasMessageContaining("HOLDFAST_PULL_SECRET")
        .hasMessageNotContaining("tiny");
  }

  @Test
  void signatures_that_are_too_old_to_be_used_are_forgotten() throws Exception {
    put(SECRET);
    var control = tenant.holdfast().tenants().control();
    control
        .jdbi()
        .useHandle(handle ->
            handle.execute(
                "INSERT INTO holdfast.signature (hash, at) VALUES (sha256('%s'), now() - interval '2 hours')"
                    .formatted(tenant.name().value())));

    assertThat(signed(TestServer.shared(), "GET", PULL, "", SECRET, now()).status()).isEqualTo(200);

    int left =
        control
            .jdbi()
            .withHandle(handle ->
                handle
                    .createQuery(
                        "SELECT count(*) FROM holdfast.signature WHERE hash = sha256('%s')"
                            .formatted(tenant.name().value()))
                    .mapTo(Integer.class)
                    .one());
    assertThat(left).isZero();
  }

  private Caller admin() {
    return TestServer.shared().as(Role.ADMIN, tenant.name());
  }

  private void put(String secret) {
    assertThat(
            admin().put("/api/v1/pull-secret", "{\"secret\": \"%s\"}".formatted(secret)).status())
        .isEqualTo(200);
  }

  private UUID enqueue() {
    return tenant.jobs().enqueue(NewJob.of("scrape", 1).withQueue("pull")).id();
  }

  private static long now() {
    return Instant.now().getEpochSecond();
  }

  private String path(String path) {
    return "/t/" + tenant.name().value() + path;
  }

  private static String root(TestServer server) {
    return "http://127.0.0.1:" + server.port();
  }

  private Reply signed(
      TestServer server, String method, String path, String body, String secret, long time)
      throws Exception {
    return send(server, method, path, body, headers(method, path(path), body, secret, time));
  }

  private Reply send(
      TestServer server, String method, String path, String body, Map<String, String> headers) {
    return PlainHttp.at(server.addressOf(tenant.name()))
        .with(headers)
        .send(method, path, body.isEmpty() ? Optional.empty() : Optional.of(body));
  }

  /** As the contract says it, in its own words. */
  static Map<String, String> headers(
      String method, String path, String body, String secret, long time) throws Exception {
    HexFormat hex = HexFormat.of();
    String digest =
        hex.formatHex(MessageDigest.getInstance("SHA-256").digest(body.getBytes(UTF_8)));
    Mac mac = Mac.getInstance("HmacSHA256");
    mac.init(new SecretKeySpec(secret.getBytes(UTF_8), "HmacSHA256"));
    String text = method + "|" + path + "|" + digest + "|" + time;
    return Map.of(
        "X-Auth-Ts", "" + time, "X-Auth-Sign", hex.formatHex(mac.doFinal(text.getBytes(UTF_8))));
  }
}
