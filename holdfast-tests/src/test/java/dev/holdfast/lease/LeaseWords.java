package dev.holdfast.lease;

import static org.assertj.core.api.Assertions.assertThat;

import dev.holdfast.job.NewJob;
import dev.holdfast.job.Outcome;
import dev.holdfast.job.PolicyOverrides;
import dev.holdfast.testkit.TestTenant;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.UUID;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.stream.IntStream;
import org.junit.jupiter.api.extension.RegisterExtension;

/** The words in which the rules of leases are told. */
abstract class LeaseWords {

  @RegisterExtension final TestTenant tenant = new TestTenant();

  abstract LeaseSource leases();

  UUID enqueue(NewJob job) {
    return tenant.jobs().enqueue(job).id();
  }

  Lease claimOne(String worker) {
    List<Lease> leases = claim(worker, 1);
    assertThat(leases).hasSize(1);
    return leases.getFirst();
  }

  List<Lease> claim(String worker, int limit) {
    return leases().claim(anyKind(worker, limit)).leases();
  }

  List<Lease> claimKinds(String worker, int limit, Set<String> kinds) {
    ClaimRequest any = anyKind(worker, limit);
    return leases().claim(ClaimRequest.of(worker, any.queues(), limit).withKinds(kinds)).leases();
  }

  List<Lease> claimFrom(String host, Map<String, String> labels) {
    return leases()
        .claim(ClaimRequest.of("worker", Set.of("default"), 10).withPlace(host, labels))
        .leases();
  }

  static ClaimRequest anyKind(String worker, int limit) {
    return ClaimRequest.of(worker, Set.of("default"), limit);
  }

  static ClaimRequest withId(String claimId, String worker, int limit) {
    return ClaimRequest.of(worker, Set.of("default"), limit).withClaimId(claimId);
  }

  FinishReply finish(Lease lease, Outcome outcome) {
    return leases().finish(List.of(new Finish(lease, outcome))).getFirst();
  }

  /** Leases run out, and are taken; be it by a server's own upkeep, which does so, too. */
  void expireAndReap() {
    tenant.advance(Duration.ofSeconds(31));
    tenant.reap();
    assertThat(
            tenant.query("SELECT id FROM {schema}.job WHERE lease_expires_at < {schema}.clock()"))
        .isEmpty();
  }

  static PolicyOverrides lease(Duration length) {
    return PolicyOverrides.NONE.withLeaseLength(length);
  }

  static List<UUID> ids(List<Lease> leases) {
    return leases.stream().map(lease -> lease.key().jobId()).toList();
  }

  static List<LeaseKey> keys(List<Lease> leases) {
    return leases.stream().map(Lease::key).toList();
  }

  interface Numbered<T> {
    T call(int number);
  }

  static <T> List<T> concurrently(int threads, Numbered<T> work) throws Exception {
    try (var executor = Executors.newFixedThreadPool(threads)) {
      List<Future<T>> futures =
          IntStream.range(0, threads)
              .mapToObj(number -> executor.submit(() -> work.call(number)))
              .toList();
      List<T> results = new ArrayList<>();
      for (Future<T> future : futures) {
        results.add(future.get());
      }
      return results;
    }
  }
}
