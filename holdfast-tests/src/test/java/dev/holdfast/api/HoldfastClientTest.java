package dev.holdfast.api;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.holdfast.codec.Codec;
import dev.holdfast.codec.JacksonCodec;
import dev.holdfast.error.ErrorCode;
import dev.holdfast.error.HoldfastException;
import dev.holdfast.job.Failure;
import dev.holdfast.job.Job;
import dev.holdfast.job.JobState;
import dev.holdfast.job.NewJob;
import dev.holdfast.job.Outcome;
import dev.holdfast.job.Payload;
import dev.holdfast.job.Placement;
import dev.holdfast.job.Policy;
import dev.holdfast.job.PolicyOverrides;
import dev.holdfast.job.Progress;
import dev.holdfast.job.RetryPolicy;
import dev.holdfast.job.Subject;
import dev.holdfast.job.TimeLimit;
import dev.holdfast.job.UniqueKey;
import dev.holdfast.lease.ClaimRequest;
import dev.holdfast.lease.Finish;
import dev.holdfast.lease.Lease;
import dev.holdfast.lease.Report;
import dev.holdfast.queue.Enqueued;
import dev.holdfast.queue.JobFilter;
import dev.holdfast.queue.JobPage;
import dev.holdfast.queue.LogChunk;
import dev.holdfast.queue.Why;
import dev.holdfast.server.TestServer;
import dev.holdfast.server.auth.Role;
import dev.holdfast.tenant.TenantName;
import dev.holdfast.testkit.TestTenant;
import java.io.IOException;
import java.net.InetAddress;
import java.net.Proxy;
import java.net.ProxySelector;
import java.net.ServerSocket;
import java.net.SocketAddress;
import java.net.URI;
import java.net.http.HttpClient;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.UUID;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.assertj.core.api.ThrowableAssert.ThrowingCallable;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

class HoldfastClientTest {

  @RegisterExtension final TestTenant tenant = new TestTenant();

  private HoldfastClient client;

  @BeforeEach
  void connect() {
    client = TestServer.shared().client(Role.ADMIN, tenant.name());
  }

  private static NewJob everything() {
    return NewJob.of("deploy", new Payload("{\"n\":1.50}"))
        .withId(UUID.fromString("018f0000-0000-7000-8000-000000000001"))
        .withQueue("slow")
        .withPriority(-7)
        .withRunAt(Instant.parse("2031-01-31T12:00:00.123456Z"))
        .asPending()
        .withUniqueKey(new UniqueKey("only-one", UniqueKey.Scope.QUEUE))
        .withTags("blue", "grün")
        .withResources("site:1", "node:7")
        .withTarget("crm")
        .withSubject(Subject.of("site", "1", "deploying"))
        .withPlacement(Placement.requiring("gpu-1").withLabels(Map.of("zone", "eu")))
        .withPolicy(
            PolicyOverrides.NONE
                .withMaxAttempts(7)
                .withRetry(
                    new RetryPolicy.Exponential(Duration.ofSeconds(3), Duration.ofMinutes(9), 0.25))
                .withTimeout(TimeLimit.NONE)
                .withLeaseLength(Duration.ofMillis(12_345))
                .withOnLeaseLost(Policy.OnLeaseLost.FAIL)
                .withOnStop(Policy.OnStop.PAUSE)
                .withOnFailure(Policy.OnFailure.HOLD)
                .withTokenLimit(100)
                .withTargetCount(9));
  }

  @Test
  void a_new_job_reads_as_it_was_written() {
    for (NewJob job :
        List.of(
            everything(),
            NewJob.of("plain", Map.of()),
            NewJob.of("later", 1).withDelay(Duration.ofMillis(1_500)))) {
      NewJob read = NewJobJson.read(Fields.of("job", written(job)));

      assertThat(read)
          .usingRecursiveComparison()
          .ignoringFields("args")
          .withComparatorForType(
              (one, other) -> one.equals(other) ? 0 : 1, dev.holdfast.job.Needs.class)
          .isEqualTo(job);
    }
  }

  private static tools.jackson.databind.JsonNode written(NewJob job) {
    return Json.parse("job", Json.write(NewJobJson.write(job, new JacksonCodec())));
  }

  @Test
  void what_is_enqueued_from_afar_is_stored_like_what_is_enqueued_here() {
    Enqueued far = client.enqueue(everything());
    List<Map<String, Object>> stored = row(far.id());
    tenant.execute("DELETE FROM {schema}.job");

    tenant.jobs().enqueue(everything());

    assertThat(far.created()).isTrue();
    assertThat(stored).hasSize(1).isEqualTo(row(far.id()));
  }

  private List<Map<String, Object>> row(UUID id) {
    return tenant
        .query(
            """
            SELECT to_jsonb(job) - 'seq' - 'created_at' - 'fence' - 'args' AS job, job.args::text AS args,
                   to_jsonb(lane) AS lane
              FROM {schema}.job
              JOIN {schema}.lane ON lane.id = job.lane
             WHERE job.id = '%s'
            """
                .formatted(id))
        .stream()
        .map(row ->
            Map.<String, Object>of(
                "job", String.valueOf(row.get("job")),
                "args", String.valueOf(row.get("args")),
                "lane", String.valueOf(row.get("lane"))))
        .toList();
  }

  @Test
  void a_job_from_afar_is_the_job_that_is_stored_in_every_state_that_it_comes_to() {
    UUID waiting = client.enqueue(everything()).id();
    UUID id = client.enqueue(NewJob.of("email", Map.of("to", "ada"))).id();
    List<Optional<Job>> far = new ArrayList<>();
    List<Optional<Job>> near = new ArrayList<>();
    Runnable compare =
        () ->
            Stream.of(waiting, id)
                .forEach(each -> {
                  far.add(client.get(each));
                  near.add(tenant.jobs().get(each));
                });

    compare.run();
    Lease lease = claim();
    client.leases().report(lease, Report.of(Progress.NONE.withCursor("c").withPercent(12.5)));
    compare.run();
    client
        .leases()
        .finish(List.of(new Finish(lease, Outcome.succeeded(new Payload("{\"sent\": 1.0}")))));
    compare.run();

    assertThat(far).isEqualTo(near).doesNotContain(Optional.empty());
  }

  @Test
  void the_same_id_or_a_live_unique_key_again_is_the_same_job() {
    Enqueued first = client.enqueue(NewJob.of("email", 1).withUniqueKey("k"));
    Enqueued byKey = client.enqueue(NewJob.of("email", 2).withUniqueKey("k"));
    List<Enqueued> batch =
        client.enqueueAll(
            List.of(
                NewJob.of("email", 3).withId(first.id()),
                NewJob.of("email", 4),
                NewJob.of("email", 5).withUniqueKey("k")));

    assertThat(first.created()).isTrue();
    assertThat(byKey).isEqualTo(new Enqueued(first.id(), false));
    assertThat(batch).extracting(Enqueued::created).containsExactly(false, true, false);
    assertThat(batch.getLast().id()).isEqualTo(first.id());
  }

  @Test
  void pages_follow_each_other_until_all_jobs_were_seen_once() {
    client.enqueueAll(IntStream.range(0, 25).mapToObj(i -> NewJob.of("email", i)).toList());
    client.enqueue(NewJob.of("email", 1).withQueue("other & more"));
    JobFilter filter =
        JobFilter.ALL.withQueue("default").withStates(Set.of(JobState.QUEUED, JobState.FAILED));

    List<UUID> seen = new ArrayList<>();
    JobPage page = client.list(filter, 10);
    page.jobs().forEach(job -> seen.add(job.id()));
    while (page.after().isPresent()) {
      page = client.list(filter, page.after().get(), 10);
      page.jobs().forEach(job -> seen.add(job.id()));
    }

    assertThat(seen).hasSize(25).doesNotHaveDuplicates();
    assertThat(client.list(JobFilter.ALL.withQueue("other & more"), 10).jobs()).hasSize(1);
  }

  @Test
  void what_people_do_is_done_from_afar() {
    UUID id = client.enqueue(NewJob.of("email", 1)).id();

    assertThat(client.pause(id, Because.of("not now")).state()).isEqualTo(JobState.PAUSED);
    assertThat(client.resume(id, Because.NOTHING).state()).isEqualTo(JobState.QUEUED);
    assertThat(client.fail(id, Because.of("hopeless").withForce()).errorMessage())
        .hasValueSatisfying(message -> assertThat(message).contains("hopeless"));
    assertThat(client.retry(id, Because.NOTHING).state()).isEqualTo(JobState.QUEUED);
    claim();
    assertThat(client.requeue(id, Because.NOTHING.withForce()).state()).isEqualTo(JobState.QUEUED);
    assertThat(client.stop(id, Because.NOTHING).state()).isEqualTo(JobState.CANCELLED);
    assertThat(client.retry(id, Because.NOTHING).state()).isEqualTo(JobState.QUEUED);
    assertThat(client.pause(id, Because.NOTHING).state()).isEqualTo(JobState.PAUSED);
    assertThat(client.resolve(id, Map.of("by", "hand"), Because.NOTHING).result())
        .contains(new Payload("{\"by\":\"hand\"}"));
    assertThat(client.cancel(id, Because.of("wrong").withForce()).state())
        .isEqualTo(JobState.CANCELLED);
    assertThat(tenant.invariants().check()).isEmpty();
  }

  @Test
  void a_jobs_attempts_log_and_reason_to_wait_are_those_that_are_stored() {
    UUID id = client.enqueue(NewJob.of("email", 1).withTarget("crm")).id();
    UUID next = client.enqueue(NewJob.of("email", 2).withTarget("crm")).id();
    Lease lease = claim();
    client.leases().report(lease, Report.ofLog(List.of("one", "zwei ä", "three")));

    Why why = client.why(next);
    LogChunk first = client.log(id, 0, 2);
    LogChunk rest = client.log(id, first.offset(), 10);
    client
        .leases()
        .finish(
            List.of(
                new Finish(
                    lease,
                    Outcome.failed(Failure.permanent("SMTP_DOWN", "no route")),
                    Optional.of("last words"))));

    assertThat(why.reason()).isIn(Why.Reason.NOT_ITS_TURN, Why.Reason.RESOURCE_HELD);
    assertThat(why.blockedBy().orElseThrow().jobId()).isEqualTo(id);
    assertThat(first.lines()).extracting(LogChunk.Line::text).containsExactly("one", "zwei ä");
    assertThat(rest.lines()).extracting(LogChunk.Line::text).containsExactly("three");
    assertThat(client.attempts(id)).isEqualTo(tenant.jobs().attempts(id)).hasSize(1);
    assertThat(client.attempts(id).getFirst().logExcerpt()).contains("last words");
  }

  @Test
  void what_is_refused_has_the_servers_code() {
    UUID id = client.enqueue(NewJob.of("email", 1)).id();
    UUID unknown = UUID.randomUUID();
    HoldfastClient viewer = TestServer.shared().client(Role.VIEWER, tenant.name());

    assertThat(client.get(unknown)).isEmpty();
    assertThat(code(() -> client.why(unknown))).isEqualTo(ErrorCode.NOT_FOUND);
    assertThat(code(() -> client.resume(id, Because.NOTHING))).isEqualTo(ErrorCode.STATE_CONFLICT);
    assertThat(code(() -> client.list(JobFilter.ALL, 0))).isEqualTo(ErrorCode.INVALID_ARGUMENT);
    assertThat(code(() -> client.enqueueAll(List.of()))).isEqualTo(ErrorCode.INVALID_ARGUMENT);
    assertThat(code(() -> viewer.cancel(id, Because.NOTHING))).isEqualTo(ErrorCode.FORBIDDEN);
    assertThat(code(() -> client.withToken("wrong").get(id))).isEqualTo(ErrorCode.FORBIDDEN);
    assertThat(code(() -> client.withTenant(new TenantName("other")).get(id)))
        .isEqualTo(ErrorCode.FORBIDDEN);
  }

  @Test
  void a_server_that_cannot_be_reached_or_does_not_answer_is_unavailable() throws Exception {
    try (ServerSocket silent = new ServerSocket(0, 50, InetAddress.getLoopbackAddress())) {
      HoldfastClient nobody =
          HoldfastClient.at("http://127.0.0.1:" + silent.getLocalPort() + "/")
              .withTimeout(Duration.ofMillis(200));
      assertThat(code(() -> nobody.get(UUID.randomUUID()))).isEqualTo(ErrorCode.UNAVAILABLE);
      silent.close();
      assertThat(code(() -> nobody.get(UUID.randomUUID()))).isEqualTo(ErrorCode.UNAVAILABLE);
    }
    assertThat(code(() -> HoldfastClient.at("127.0.0.1:8080"))).isEqualTo(ErrorCode.BAD_CONFIG);
  }

  @Test
  void arguments_become_json_as_the_clients_codec_writes_them() {
    JacksonCodec plain = new JacksonCodec();
    Codec wrapping =
        new Codec() {
          @Override
          public String encode(Object value) {
            return plain.encode(Map.of("wrapped", value));
          }

          @Override
          public <T> T decode(String json, Class<T> type) {
            return plain.decode(json, type);
          }
        };

    UUID id = client.withCodec(wrapping).enqueue(NewJob.of("email", 1)).id();

    assertThat(tenant.job(id).args().json()).isEqualTo("{\"wrapped\":1}");
  }

  @Test
  void requests_go_by_the_http_client_that_the_caller_gives() {
    List<URI> asked = new ArrayList<>();
    ProxySelector proxies =
        new ProxySelector() {
          @Override
          public List<Proxy> select(URI uri) {
            asked.add(uri);
            return List.of(Proxy.NO_PROXY);
          }

          @Override
          public void connectFailed(URI uri, SocketAddress address, IOException why) {}
        };

    try (HttpClient own =
        HttpClient.newBuilder().version(HttpClient.Version.HTTP_1_1).proxy(proxies).build()) {
      assertThat(client.withHttpClient(own).get(UUID.randomUUID())).isEmpty();
    }

    assertThat(asked).extracting(URI::getHost).containsOnly("127.0.0.1");
  }

  private static ErrorCode code(ThrowingCallable doing) {
    HoldfastException[] thrown = new HoldfastException[1];
    assertThatThrownBy(doing).isInstanceOfSatisfying(HoldfastException.class, e -> thrown[0] = e);
    return thrown[0].code();
  }

  private Lease claim() {
    return client
        .leases()
        .claim(ClaimRequest.of("worker", Set.of("default"), 1))
        .leases()
        .getFirst();
  }
}
