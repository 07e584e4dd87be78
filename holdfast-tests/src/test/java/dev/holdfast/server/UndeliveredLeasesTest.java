package dev.holdfast.server;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;

import dev.holdfast.fault.Fault;
import dev.holdfast.fault.Point;
import dev.holdfast.job.NewJob;
import dev.holdfast.server.Caller.Reply;
import java.io.ByteArrayInputStream;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpRequest.BodyPublishers;
import java.net.http.HttpResponse;
import java.net.http.HttpResponse.BodyHandlers;
import java.util.List;
import java.util.Optional;
import java.util.UUID;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.stream.IntStream;
import java.util.zip.GZIPInputStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import tools.jackson.databind.JsonNode;

/**
 * What was granted and certainly did not reach its worker goes back at once, at no cost; what was
 * asked for under a claim's id is kept for the repeat.
 */
class UndeliveredLeasesTest extends UndeliveredRig {

  private static final String LEASES = "/api/v1/leases";

  @ParameterizedTest
  @ValueSource(strings = {"0", "30"})
  void a_job_that_cannot_be_shown_to_who_got_it_goes_back_at_once(String wait) {
    UUID id = enqueue();
    once(this::looksJobsUp, () -> Optional.of(Fault.SERIALIZATION_FAILURE));

    Reply reply = worker.post(LEASES, claim("w1", wait, ""));

    assertThat(reply.code()).isEqualTo("DATABASE");
    isBackAtNoCost(id);
    assertThat(leasesOf(worker.post(LEASES, claim("w2", wait, "")))).containsExactly(id);
  }

  @ParameterizedTest
  @ValueSource(strings = {"0", "30"})
  void under_a_claims_id_it_is_kept_for_the_repeat(String wait) {
    UUID id = enqueue();
    once(this::looksJobsUp, () -> Optional.of(Fault.SERIALIZATION_FAILURE));

    Reply failed = worker.post(LEASES, claim("w1", wait, "c1"));
    long fence = tenant.job(id).fence();
    Reply again = worker.post(LEASES, claim("w1", wait, "c1"));

    assertThat(failed.code()).isEqualTo("DATABASE");
    assertThat(leasesOf(again)).containsExactly(id);
    assertThat(again.json().at("/leases/0/fence").asLong()).isEqualTo(fence);
  }

  @Test
  void a_repeat_that_cannot_be_answered_takes_nothing_from_those_it_is_served_with()
      throws Exception {
    UUID first = enqueue();
    worker.post(LEASES, claim("w1", "0", "c1"));
    try (ExecutorService threads = Executors.newVirtualThreadPerTaskExecutor()) {
      Future<Reply> other = threads.submit(() -> worker.post(LEASES, claim("w2", "30", "")));
      awaitWaiting(1);
      UUID[] second = new UUID[1];
      once(
          point -> point.sql().contains(schema() + ".claim WHERE claim_id = ANY"),
          () -> {
            second[0] = enqueue(); // comes with the round in which the repeat is served
            struck.set(false);
            once(
                point -> point.sql().contains("SET lease_expires_at = greatest(lease_expires_at"),
                () -> Optional.of(Fault.SERIALIZATION_FAILURE));
            return Optional.empty();
          });

      Reply repeat = worker.post(LEASES, claim("w1", "30", "c1"));

      assertThat(leasesOf(other.get())).containsExactly(second[0]);
      assertThat(leasesOf(repeat)).containsExactly(first);
      assertThat(struck).isTrue();
    }
  }

  @Test
  void who_hangs_up_between_the_grant_and_the_answer_does_not_keep_the_job() throws Exception {
    UUID id = enqueue();
    try (RawHttp ghost = RawHttp.to(worker)) {
      once(this::looksJobsUp, () -> hangUp(ghost));
      ghost.post(LEASES, claim("ghost", "0", ""));

      awaitGivenBack(id);
    }
    isBackAtNoCost(id);
  }

  @Test
  void who_hung_up_and_asks_again_under_its_claims_id_gets_the_same_lease() throws Exception {
    UUID id = enqueue();
    CountDownLatch hungUp = new CountDownLatch(1);
    try (RawHttp ghost = RawHttp.to(worker)) {
      once(
          this::looksJobsUp,
          () -> {
            hangUp(ghost);
            hungUp.countDown();
            return Optional.empty();
          });
      ghost.post(LEASES, claim("w1", "30", "c1"));
      hungUp.await();
    }
    long fence = tenant.job(id).fence();

    Reply again = worker.post(LEASES, claim("w1", "30", "c1"));

    assertThat(leasesOf(again)).containsExactly(id);
    assertThat(again.json().at("/leases/0/fence").asLong()).isEqualTo(fence);
    assertThat(tenant.job(id).lease()).isPresent();
  }

  @Test
  void an_answer_that_breaks_off_leaves_nothing_leased() throws Exception {
    String large = "x".repeat(250_000);
    List<UUID> ids =
        tenant
            .jobs()
            .enqueueAll(IntStream.range(0, 120).mapToObj(i -> NewJob.of("deploy", large)).toList())
            .stream()
            .map(enqueued -> enqueued.id())
            .toList();
    try (RawHttp ghost = RawHttp.to(worker)) {
      ghost.post(LEASES, claim("ghost", "0", "").replace("}", ", \"limit\": 120}"));
      ghost.awaitFirstByte();
      ghost.cut();
    }

    ids.forEach(this::awaitGivenBack);
    ids.forEach(this::isBackAtNoCost);
  }

  @Test
  void an_answer_with_leases_is_compressed_for_who_wishes_so() throws Exception {
    UUID id = tenant.jobs().enqueue(NewJob.of("deploy", "x".repeat(100_000))).id();
    HttpRequest request =
        HttpRequest.newBuilder(URI.create("http://127.0.0.1:" + worker.port() + LEASES))
            .header("Authorization", "Bearer " + worker.token().orElseThrow())
            .header("Content-Type", "application/json")
            .header("Accept-Encoding", "gzip")
            .POST(BodyPublishers.ofString(claim("w1", "0", "")))
            .build();

    try (HttpClient client = HttpClient.newHttpClient()) {
      HttpResponse<byte[]> answer = client.send(request, BodyHandlers.ofByteArray());
      String text =
          new String(
              new GZIPInputStream(new ByteArrayInputStream(answer.body())).readAllBytes(), UTF_8);

      assertThat(answer.headers().firstValue("X-Content-Type-Options")).contains("nosniff");
      assertThat(answer.body().length).isLessThan(10_000);
      assertThat(text).contains(id.toString()).endsWith("]}");
    }
  }

  @Test
  void a_server_that_ends_while_it_grants_delivers_what_it_granted_or_gives_it_back()
      throws Exception {
    try (ExecutorService threads = Executors.newVirtualThreadPerTaskExecutor()) {
      Future<Reply> waits = threads.submit(() -> worker.post(LEASES, claim("w1", "30", "")));
      awaitWaiting(1);
      CountDownLatch ends = new CountDownLatch(1);
      once(
          this::claims,
          () -> {
            ends.countDown();
            return Optional.empty();
          });
      UUID id = enqueue();
      ends.await();
      server.close();

      boolean delivered = leasesOf(waits.get()).contains(id);
      assertThat(tenant.job(id).lease().isPresent()).isEqualTo(delivered);
    }
  }

  private UUID enqueue() {
    return tenant.jobs().enqueue(NewJob.of("deploy", 1)).id();
  }

  private static String claim(String name, String wait, String claimId) {
    return "{\"worker\": \"%s\", \"queues\": [\"default\"], \"wait_seconds\": %s%s}"
        .formatted(name, wait, claimId.isEmpty() ? "" : ", \"claim_id\": \"" + claimId + "\"");
  }

  private static List<UUID> leasesOf(Reply reply) {
    assertThat(reply.status()).as(reply.text()).isEqualTo(200);
    return reply
        .json()
        .path("leases")
        .valueStream()
        .map((JsonNode lease) -> UUID.fromString(lease.at("/job/id").asString()))
        .toList();
  }

  private void awaitWaiting(int count) {
    while (server.waiting(tenant.name()) < count) {
      Thread.onSpinWait();
    }
  }

  private boolean looksJobsUp(Point point) {
    return point.sql().contains(schema() + ".job_all");
  }
}
