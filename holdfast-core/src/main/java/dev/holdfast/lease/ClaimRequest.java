package dev.holdfast.lease;

import dev.holdfast.error.HoldfastException;
import dev.holdfast.job.Limits;
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
 * @param claimId makes the claim repeatable: the same id again gets the same leases
 */
public record ClaimRequest(
    String worker,
    Set<String> queues,
    Optional<Set<String>> kinds,
    int limit,
    String host,
    Map<String, String> labels,
    Optional<Duration> leaseLength,
    Optional<String> claimId) {

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
    queues = Set.copyOf(queues);
    kinds = kinds.map(Set::copyOf);
    labels = Map.copyOf(labels);
  }

  public ClaimRequest withLimit(int limit) {
    return new ClaimRequest(worker, queues, kinds, limit, host, labels, leaseLength, claimId);
  }

  public ClaimRequest withQueues(Set<String> queues) {
    return new ClaimRequest(worker, queues, kinds, limit, host, labels, leaseLength, claimId);
  }
}
