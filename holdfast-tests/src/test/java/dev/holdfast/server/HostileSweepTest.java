package dev.holdfast.server;

import static org.assertj.core.api.Assertions.assertThat;

import dev.holdfast.server.Caller.Reply;
import dev.holdfast.server.auth.Role;
import dev.holdfast.testkit.TestTenant;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.SplittableRandom;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.ConcurrentSkipListMap;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.random.RandomGenerator;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.RegisterExtension;

/**
 * Requests made up by dice from the server's own OpenAPI document, by every role. {@code
 * -Dholdfast.hostile.requests=100000} for a longer sweep, {@code -Dholdfast.hostile.seed} for other
 * dice.
 */
class HostileSweepTest {

  private static final int REQUESTS = Integer.getInteger("holdfast.hostile.requests", 3_000);
  private static final long SEED = Long.getLong("holdfast.hostile.seed", 20_261_117L);
  private static final int THREADS = 4;
  private static final int MOST_SHOWN = 20;

  private static final List<Role> ROLES =
      List.of(Role.ADMIN, Role.SYSTEM, Role.OPERATOR, Role.WORKER, Role.SUBMITTER, Role.VIEWER);

  /** What would take away what others stand on, or never comes to an end. */
  private static final Set<String> NOT =
      Set.of(
          "GET /api/v1/events", // answers for as long as somebody listens
          "DELETE /api/v1/tokens/{id}", // one of them is ours
          // Other tests share the database; in one of its own HostileTracesTest sends these, too.
          "POST /api/v1/tenants",
          "DELETE /api/v1/tenants/{name}");

  @RegisterExtension final TestTenant tenant = new TestTenant();
  @RegisterExtension final TestTenant other = new TestTenant();

  private final Map<Integer, AtomicInteger> statuses = new ConcurrentSkipListMap<>();
  private final ConcurrentLinkedQueue<String> wrong = new ConcurrentLinkedQueue<>();

  @Test
  @Timeout(value = 2, unit = TimeUnit.HOURS)
  void no_request_fails_the_server_and_nothing_is_stored_that_it_did_not_say() throws Exception {
    HostileRequests requests =
        new HostileRequests(
            TestServer.shared().as(Role.VIEWER, tenant.name()), NOT, tenant.name(), other.name());
    List<Thread> threads =
        IntStream.range(0, THREADS)
            .mapToObj(number ->
                Thread.ofPlatform().start(() -> sweep(requests, REQUESTS / THREADS, number)))
            .toList();
    for (Thread thread : threads) {
      thread.join();
    }

    System.out.printf(
        "Hostile sweep: seed %d, %d operations, answers by status %s, %d wrong%n",
        SEED, requests.operations(), statuses, wrong.size());
    assertThat(wrong.stream().limit(MOST_SHOWN)).isEmpty();
    assertThat(statuses.values().stream().mapToInt(AtomicInteger::get).sum())
        .isEqualTo(REQUESTS / THREADS * THREADS);
    assertThat(statuses).containsKeys(200, 201, 400, 403, 404);
    assertThat(storedIds()).isNotEmpty().isSubsetOf(requests.enqueued());
    assertThat(tenant.invariants().check()).isEmpty();
    assertThat(other.query("SELECT id FROM {schema}.job_all")).isEmpty();
  }

  /** Of all jobs: no scheduler is there that would make any, so somebody was told each of them. */
  private List<String> storedIds() {
    return tenant.query("SELECT id::text AS id FROM {schema}.job_all").stream()
        .map(row -> String.valueOf(row.get("id")))
        .toList();
  }

  private void sweep(HostileRequests requests, int count, int thread) {
    RandomGenerator dice = new SplittableRandom(SEED * 31 + thread);
    List<Caller> callers =
        ROLES.stream().map(role -> TestServer.shared().as(role, tenant.name())).toList();
    for (int i = 0; i < count; i++) {
      HostileRequests.Made request = requests.next(dice);
      Caller caller = dice.nextBoolean() ? callers.getFirst() : HostileRequests.pick(callers, dice);
      Reply reply = request.by(caller);
      statuses.computeIfAbsent(reply.status(), unseen -> new AtomicInteger()).incrementAndGet();
      requests.heard(request, reply);
      if (reply.status() >= 500
          || reply.text().contains("Exception")
          || reply.text().contains("\tat ")) {
        wrong.add("%s answers %d: %s".formatted(request, reply.status(), reply.text()));
      }
    }
  }
}
