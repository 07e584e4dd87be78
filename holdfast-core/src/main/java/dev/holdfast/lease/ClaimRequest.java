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
 * Who asks for jobs, and which ones it can run.
 *
 * @param kinds empty when the worker runs any kind
 * @param limit never more than the worker can start at once
 * @param leaseLength overrides what the jobs and their queues say
 * @param thorough looks at every due job, where a hurried claim may miss one for a second or two
 * @param claimId makes the claim repeatable: the same id again gets the same leases
 * @param acknowledges the worker will say when it starts them; until then they are dispatched
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

  /** A worker that runs any kind, has no labels, and takes leases as long as the jobs say. */
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

  /** Its jobs come as dispatched, and run once the worker says so. */
  public ClaimRequest acknowledging() {
    return new ClaimRequest(
        worker, queues, kinds, limit, host, labels, leaseLength, claimId, thorough, true);
  }

  /** The same work, claimed by one name for many. */
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

  /** What a claim makes of a job. */
  JobState claimedAs() {
    return acknowledges ? JobState.DISPATCHED : JobState.RUNNING;
  }

  public ClaimRequest thoroughly() {
    return new ClaimRequest(
        worker, queues, kinds, limit, host, labels, leaseLength, claimId, true, acknowledges);
  }
}
