package dev.holdfast.server.poll;

import dev.holdfast.job.Job;
import dev.holdfast.job.Outcome;
import dev.holdfast.lease.ClaimRequest;
import dev.holdfast.lease.Lease;
import dev.holdfast.lease.RemoteLeases;
import dev.holdfast.queue.Jobs;
import java.time.Duration;
import java.util.Collection;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.SequencedMap;
import java.util.UUID;

/**
 * What a worker gets.
 *
 * @param leases with their jobs as they are now: one may have been asked to stop since it was
 *     claimed, and its worker should know
 */
public record Hand(SequencedMap<Lease, Job> leases) {

  static final Hand EMPTY = new Hand(new LinkedHashMap<>());

  public static Hand of(List<Lease> leases, Jobs jobs) {
    return leases.isEmpty() ? EMPTY : of(leases, look(leases, jobs));
  }

  static Hand of(List<Lease> leases, Map<UUID, Job> jobs) {
    SequencedMap<Lease, Job> both = new LinkedHashMap<>();
    for (Lease lease : leases) {
      Optional.ofNullable(jobs.get(lease.key().jobId())).ifPresent(job -> both.put(lease, job));
    }
    return new Hand(both);
  }

  /** The jobs of many hands, with one look. */
  static Map<UUID, Job> look(Collection<Lease> leases, Jobs jobs) {
    return leases.isEmpty()
        ? Map.of()
        : jobs.all(leases.stream().map(lease -> lease.key().jobId()).toList());
  }

  /** What nobody will read goes to somebody else, at no cost. */
  static void giveBack(RemoteLeases leases, ClaimRequest request, Collection<Lease> unread) {
    if (!unread.isEmpty()) {
      leases.finish(
          unread.stream()
              .map(lease ->
                  new RemoteLeases.End(
                      request.worker(),
                      lease.key().jobId(),
                      lease.key().fence(),
                      Outcome.snoozed(Duration.ZERO),
                      Optional.empty()))
              .toList());
    }
  }
}
