package dev.holdfast.server;

import static org.assertj.core.api.Assertions.assertThat;

import com.sun.net.httpserver.HttpServer;
import dev.holdfast.job.JobState;
import dev.holdfast.job.NewJob;
import dev.holdfast.job.PolicyOverrides;
import dev.holdfast.lease.ClaimRequest;
import dev.holdfast.lease.RemoteLeases;
import dev.holdfast.server.Caller.Reply;
import dev.holdfast.server.auth.Role;
import dev.holdfast.server.notify.Courier;
import dev.holdfast.server.notify.Deliveries;
import dev.holdfast.server.notify.Receivers;
import dev.holdfast.server.tenancy.OpenTenants;
import dev.holdfast.testkit.TestTenant;
import dev.holdfast.worker.Worker;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.HexFormat;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.UUID;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import javax.crypto.Mac;
import javax.crypto.spec.SecretKeySpec;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Those who asked are told, signed, and told again until they have heard. */
class WebhooksTest {

  private record Heard(String body, String signature, String delivery) {}

  @RegisterExtension final TestTenant tenant = new TestTenant();

  private final BlockingQueue<Heard> heard = new LinkedBlockingQueue<>();
  private final BlockingQueue<Integer> answers = new LinkedBlockingQueue<>();
  private HttpServer receiver;

  @BeforeEach
  void listen() throws Exception {
    receiver = HttpServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 0);
    receiver.createContext(
        "/hook",
        exchange -> {
          Integer answer = answers.poll();
          heard.add(
              new Heard(
                  new String(exchange.getRequestBody().readAllBytes(), StandardCharsets.UTF_8),
                  exchange.getRequestHeaders().getFirst("X-Holdfast-Signature"),
                  exchange.getRequestHeaders().getFirst("X-Holdfast-Delivery")));
          exchange.sendResponseHeaders(answer == null ? 204 : answer, -1);
          exchange.close();
        });
    receiver.start();
  }

  @AfterEach
  void stop() {
    receiver.stop(0);
  }

  @Test
  void a_failure_is_told_signed_and_again_until_it_is_heard() throws Exception {
    webhook("job_failed");
    answers.add(500);
    UUID failed = fail();

    passOnAndSend();
    Heard first = heard.poll(30, TimeUnit.SECONDS);
    tenant.advance(Duration.ofMinutes(1));
    passOnAndSend();
    Heard second = heard.poll(30, TimeUnit.SECONDS);

    assertThat(first).isNotNull();
    assertThat(first.body()).contains(failed.toString()).contains("job_failed").contains("no disk");
    assertThat(first.signature()).isEqualTo("sha256=" + hmac("s3cret", first.body()));
    assertThat(second).isEqualTo(first);
    assertThat(tenant.query("SELECT id FROM {schema}.outbox")).isEmpty();
  }

  @Test
  void where_nobody_asked_nothing_is_written_down() {
    fail();

    assertThat(tenant.query("SELECT id FROM {schema}.outbox")).isEmpty();
  }

  @Test
  void a_job_that_stands_on_its_target_for_long_is_told_once() throws Exception {
    webhook("old_block");
    UUID id = tenant.jobs().enqueue(NewJob.of("deploy", 1).withTarget("t")).id();
    tenant.acts().pause(id, dev.holdfast.audit.Act.by("ada"));
    tenant.advance(Duration.ofHours(2));

    passOnAndSend();
    passOnAndSend();

    assertThat(heard).hasSize(1);
    assertThat(heard.poll().body()).contains(id.toString()).contains("ada");
  }

  @Test
  void nobody_enqueues_or_takes_messages_in_the_servers_name() {
    Caller submitter = TestServer.shared().as(Role.SUBMITTER, tenant.name());
    Caller worker = TestServer.shared().as(Role.WORKER, tenant.name());

    Reply kind = submitter.post("/api/v1/jobs", "{\"kind\": \"holdfast.webhook\"}");
    Reply queue =
        submitter.post("/api/v1/jobs", "{\"kind\": \"a\", \"queue\": \"holdfast.webhooks\"}");
    Reply claim =
        worker.post("/api/v1/leases", "{\"worker\": \"w\", \"queues\": [\"holdfast.webhooks\"]}");

    assertThat(List.of(kind.status(), queue.status(), claim.status())).containsOnly(400);
    assertThat(kind.text()).contains("holdfast.");
  }

  @ParameterizedTest
  @CsvSource({
    "POST, /pause, '{}'",
    "POST, /stop, '{}'",
    "POST, /fail, '{\"force\": true}'",
    "POST, /resolve, '{\"force\": true}'",
    "POST, /requeue, '{\"force\": true}'",
    "PATCH, '', '{\"run_at\": \"2090-01-01T00:00:00Z\"}'"
  })
  void messages_of_the_server_are_acted_on_by_admins_alone(String method, String act, String body) {
    String path = "/api/v1/jobs/" + message() + act;
    Caller operator = TestServer.shared().as(Role.OPERATOR, tenant.name());
    Caller admin = TestServer.shared().as(Role.ADMIN, tenant.name());

    assertThat(operator.send(method, path, Optional.of(body)).status()).isEqualTo(403);
    assertThat(admin.send(method, path, Optional.of(body)).status()).isIn(200, 409);
  }

  @Test
  void operators_do_not_silence_webhooks_by_acting_on_many_jobs() {
    UUID id = message();
    Caller operator = TestServer.shared().as(Role.OPERATOR, tenant.name());
    String pause =
        "{\"action\": \"pause\", \"filter\": {\"queue\": \"holdfast.webhooks\"}, \"dry_run\": %s}";

    for (boolean dryRun : List.of(true, false)) {
      Reply refused = operator.post("/api/v1/jobs/actions", pause.formatted(dryRun));
      assertThat(refused.json().path("results").path(0).path("status").asString())
          .as(refused.text())
          .isEqualTo("refused");
    }
    assertThat(tenant.job(id).state()).isEqualTo(JobState.QUEUED);

    Reply done =
        TestServer.shared()
            .as(Role.ADMIN, tenant.name())
            .post("/api/v1/jobs/actions", pause.formatted(false));
    assertThat(done.json().path("results").path(0).path("status").asString()).isEqualTo("done");
    assertThat(tenant.job(id).state()).isEqualTo(JobState.PAUSED);
  }

  /** One that waits to be delivered. */
  private UUID message() {
    webhook("job_failed");
    fail();
    new Courier(tenant.holdfast(), new OpenTenants(tenant.holdfast(), name -> Set::of)).runOnce();
    return UUID.fromString(
        String.valueOf(
            tenant
                .query("SELECT id FROM {schema}.job_all WHERE queue = 'holdfast.webhooks'")
                .getFirst()
                .get("id")));
  }

  @Test
  void a_receiver_that_is_never_there_is_not_told_that_it_is_not_there() {
    webhook("job_failed");
    fail();
    for (int attempt = 0; attempt < 12; attempt++) {
      answers.add(500);
      passOnAndSend();
      tenant.advance(Duration.ofHours(2));
    }

    passOnAndSend();

    assertThat(heard).hasSize(12);
    assertThat(tenant.query("SELECT id FROM {schema}.job")).isEmpty();
  }

  @Test
  void what_only_the_server_can_reach_is_not_called_for_a_tenant() {
    webhook("job_failed");
    fail();

    passOn(new Receivers(Set.of()));

    assertThat(heard).isEmpty();
    assertThat(
            tenant.query(
                "SELECT error_code FROM {schema}.job_all WHERE queue = 'holdfast.webhooks'"))
        .extracting(row -> row.get("error_code"))
        .containsExactly("WEBHOOK_FORBIDDEN");
  }

  private UUID fail() {
    UUID id =
        tenant
            .jobs()
            .enqueue(NewJob.of("deploy", 1).withPolicy(PolicyOverrides.NONE.withMaxAttempts(1)))
            .id();
    RemoteLeases leases = tenant.holdfast().remoteLeases(tenant.name(), Set::of);
    var lease = leases.claim(ClaimRequest.of("w", Set.of("default"), 1)).leases().getFirst();
    leases.finish(
        List.of(
            new RemoteLeases.End(
                "w",
                id,
                lease.key().fence(),
                dev.holdfast.job.Outcome.failed(dev.holdfast.job.Failure.permanent("E", "no disk")),
                Optional.empty())));
    return id;
  }

  private void webhook(String event) {
    var put =
        TestServer.shared()
            .as(Role.ADMIN, tenant.name())
            .put(
                "/api/v1/webhooks/ops",
                """
                {"url": "http://127.0.0.1:%d/hook", "events": ["%s"], "secret": "s3cret"}
                """
                    .formatted(receiver.getAddress().getPort(), event));
    assertThat(put.status()).as(put.text()).isEqualTo(200);
  }

  private void passOnAndSend() {
    passOn(new Receivers(Set.of("127.0.0.0/8")));
  }

  private void passOn(Receivers receivers) {
    OpenTenants openTenants = new OpenTenants(tenant.holdfast(), tenant -> Set::of);
    new Courier(tenant.holdfast(), openTenants).runOnce();
    Worker worker = Deliveries.worker(tenant.worker(), openTenants, receivers);
    worker.runDue();
  }

  private static String hmac(String secret, String body) throws Exception {
    Mac mac = Mac.getInstance("HmacSHA256");
    mac.init(new SecretKeySpec(secret.getBytes(StandardCharsets.UTF_8), "HmacSHA256"));
    return HexFormat.of().formatHex(mac.doFinal(body.getBytes(StandardCharsets.UTF_8)));
  }
}
