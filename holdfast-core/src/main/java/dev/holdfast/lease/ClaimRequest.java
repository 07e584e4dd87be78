package dev.holdfast.lease;

import dev.holdfast.error.HoldfastException;
import dev.holdfast.job.JobState;
import dev.holdfast.job.Limits;
import dev.holdfast.job.Placement;
import dev.holdfast.job.Policy;
import java.time.Duration;
import java.util.Map;
import java.util.Optional;
import java.util.Set;

/**
 * A worker's request for jobs: who asks, and which jobs it can run.
 *
 * @param kinds the kinds that the worker runs; empty when it runs any kind
 * @param limit how many jobs to lease at most; never more than the worker can start at once
 * @param leaseLength overrides the lease length of the jobs and their queues
 * @param thorough whether every due job is looked at; other claims may miss one for a second or two
 * @param claimId makes the claim repeatable: the same id again gets the same leases
 * @param acknowledges whether the worker will say when it starts a job; until then the job is
 *     dispatched
 */
public record ClaimRequest(
    String worker,
    Set<String> queues,
    Optional<Set<String>> kinds,
    int limit,
    String host,
    Map<String, String> labels,
    Optional<Duration> leaseLength,
    Optional<String> claimId,
    boolean thorough,
    boolean acknowledges) {

  public ClaimRequest {
    Limits.name("worker", worker);
    if (queues.isEmpty()) {
      throw HoldfastException.invalid("queues", queues, "at least one queue");
    }
    if (limit < 1 || limit > Limits.CLAIM_JOBS) {
      throw HoldfastException.invalid("limit", limit, "1 to " + Limits.CLAIM_JOBS);
    }
    leaseLength.ifPresent(length -> Policy.checkLease("lease_seconds", length));
    claimId.ifPresent(id -> Limits.name("claim_id", id));
    if (!host.isEmpty()) {
      Limits.name("host", host);
    }
    queues.forEach(queue -> Limits.name("queues", queue));
    kinds.ifPresent(some -> some.forEach(kind -> Limits.name("kinds", kind)));
    queues = Set.copyOf(queues);
    kinds = kinds.map(Set::copyOf);
    labels = Placement.checkedLabels(labels);
  }

  /** For a worker that runs any kind, has no labels, and takes leases as long as the jobs say. */
  public static ClaimRequest of(String worker, Set<String> queues, int limit) {
    return new ClaimRequest(
        worker,
        queues,
        Optional.empty(),
        limit,
        "",
        Map.of(),
        Optional.empty(),
        Optional.empty(),
        false,
        false);
  }

  public ClaimRequest withQueues(Set<String> queues) {
    return new ClaimRequest(
        worker, queues, kinds, limit, host, labels, leaseLength, claimId, thorough, acknowledges);
  }

  public ClaimRequest withKinds(Set<String> kinds) {
    return new ClaimRequest(
        worker,
        queues,
        Optional.of(kinds),
        limit,
        host,
        labels,
        leaseLength,
        claimId,
        thorough,
        acknowledges);
  }

  public ClaimRequest withLimit(int limit) {
    return new ClaimRequest(
        worker, queues, kinds, limit, host, labels, leaseLength, claimId, thorough, acknowledges);
  }

  public ClaimRequest withPlace(String host, Map<String, String> labels) {
    return new ClaimRequest(
        worker, queues, kinds, limit, host, labels, leaseLength, claimId, thorough, acknowledges);
  }

  public ClaimRequest withLeaseLength(Duration length) {
    return new ClaimRequest(
        worker,
        queues,
        kinds,
        limit,
        host,
        labels,
        Optional.of(length),
        claimId,
        thorough,
        acknowledges);
  }

  public ClaimRequest withClaimId(String id) {
    return new ClaimRequest(
        worker,
        queues,
        kinds,
        limit,
        host,
        labels,
        leaseLength,
        Optional.of(id),
        thorough,
        acknowledges);
  }

  /** The jobs are granted as dispatched, and run once the worker says so. */
  public ClaimRequest acknowledging() {
    return new ClaimRequest(
        worker, queues, kinds, limit, host, labels, leaseLength, claimId, thorough, true);
  }

  /** The same request under one name, on behalf of many workers; see {@link SharedClaims}. */
  ClaimRequest asOne(String name, int limit) {
    return new ClaimRequest(
        name,
        queues,
        kinds,
        limit,
        host,
        labels,
        leaseLength,
        Optional.empty(),
        thorough,
        acknowledges);
  }

  /** The state that the claim moves a job to. */
  JobState claimedAs() {
    return acknowledges ? JobState.DISPATCHED : JobState.RUNNING;
  }

  public ClaimRequest thoroughly() {
    return new ClaimRequest(
        worker, queues, kinds, limit, host, labels, leaseLength, claimId, true, acknowledges);
  }
}
