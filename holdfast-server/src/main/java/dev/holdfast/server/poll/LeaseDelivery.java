package dev.holdfast.server.poll;

import dev.holdfast.job.Job;
import dev.holdfast.lease.ClaimRequest;
import dev.holdfast.lease.Lease;
import dev.holdfast.lease.RemoteLeases;
import dev.holdfast.queue.Jobs;
import dev.holdfast.server.http.Answer;
import java.util.Collection;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.SequencedMap;
import java.util.UUID;
import java.util.function.Consumer;
import java.util.function.Function;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Granted leases on their way to a worker. Between the commit of the grant and the last byte of the
 * answer, leases that certainly do not reach the worker are given back at once, without costing an
 * attempt. Leases claimed under a claim id are kept, because the worker will repeat the request,
 * and may already have done so on another node. Where delivery cannot be determined, the job comes
 * back when its lease ends.
 */
public final class LeaseDelivery {

  private static final Logger log = LoggerFactory.getLogger(LeaseDelivery.class);

  public static final LeaseDelivery EMPTY =
      new LeaseDelivery(List.of(), leases -> {}, Optional.empty());

  private final List<Lease> leases;
  private final Consumer<List<Lease>> giveBack;
  private final Optional<Map<UUID, Job>> jobs; // if a shared claim has looked them up

  private LeaseDelivery(
      List<Lease> leases, Consumer<List<Lease>> giveBack, Optional<Map<UUID, Job>> jobs) {
    this.leases = leases;
    this.giveBack = giveBack;
    this.jobs = jobs;
  }

  /**
   * Leases without a claim id, which a repeated request would not return again.
   *
   * @param giveBack gives undelivered leases to other workers
   */
  public static LeaseDelivery of(List<Lease> leases, Consumer<List<Lease>> giveBack) {
    return leases.isEmpty() ? EMPTY : new LeaseDelivery(leases, giveBack, Optional.empty());
  }

  static LeaseDelivery of(RemoteLeases source, ClaimRequest request, List<Lease> leases) {
    return of(leases, request.claimId().isPresent() ? kept -> {} : source::giveBack);
  }

  /** Claims what is available now, without waiting. */
  public static LeaseDelivery claim(RemoteLeases source, ClaimRequest request) {
    return of(source, request, source.claim(request).leases());
  }

  LeaseDelivery knowing(Map<UUID, Job> looked) {
    return new LeaseDelivery(leases, giveBack, Optional.of(looked));
  }

  boolean isEmpty() {
    return leases.isEmpty();
  }

  /**
   * Writes the answer. Gives the leases back if that fails or the client does not get the answer.
   */
  public Answer deliver(Function<List<Lease>, Answer> write) {
    boolean written = false;
    try {
      Answer answer = write.apply(leases);
      written = true;
      return isEmpty() ? answer : answer.ifUnread(this::giveBack);
    } finally {
      if (!written) {
        giveBack();
      }
    }
  }

  /**
   * Answers with the leases and their jobs as they are now: a job may have been asked to stop since
   * it was claimed, and its worker should know.
   */
  public Answer deliver(Jobs of, Function<SequencedMap<Lease, Job>, Answer> write) {
    return deliver(granted -> {
      Map<UUID, Job> looked = jobs.orElseGet(() -> look(granted, of));
      SequencedMap<Lease, Job> both = new LinkedHashMap<>();
      for (Lease lease : granted) {
        Optional.ofNullable(looked.get(lease.key().jobId())).ifPresent(job -> both.put(lease, job));
      }
      return write.apply(both);
    });
  }

  /** The jobs of all these leases, in one query. */
  static Map<UUID, Job> look(Collection<Lease> leases, Jobs jobs) {
    return leases.isEmpty()
        ? Map.of()
        : jobs.all(leases.stream().map(lease -> lease.key().jobId()).toList());
  }

  /** Gives the leases back for other workers, unless they are kept for a repeat. Never throws. */
  public void giveBack() {
    try {
      giveBack.accept(leases);
    } catch (RuntimeException e) {
      log.warn("{} jobs reached nobody and wait until their leases are over", leases.size(), e);
    }
  }
}
