package dev.holdfast.lease;

import dev.holdfast.error.ErrorCode;
import dev.holdfast.error.HoldfastException;
import dev.holdfast.job.Failure;
import dev.holdfast.job.Outcome;
import dev.holdfast.lease.Extension.Status;
import dev.holdfast.tenant.Db;
import dev.holdfast.tenant.Tenant;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.IdentityHashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.UUID;

/**
 * Leases of one tenant, for remote workers. Such a worker knows a lease by its job and fence; the
 * rest is looked up, and whatever the worker does goes through the same guarded statements as for
 * local workers. Thread-safe.
 */
public final class RemoteLeases {

  private static final String NAMED_HOSTS =
      """
      SELECT DISTINCT host FROM {schema}.lane WHERE host <> ''
      """;

  /**
   * An attempt that ended, as its worker reports it.
   *
   * @param logExcerpt the last lines of its log, kept with the attempt
   */
  public record End(
      String worker, UUID jobId, long fence, Outcome outcome, Optional<String> logExcerpt) {}

  /**
   * What became of a lease that was to be renewed.
   *
   * @param expiresAt when the lease ends, if it is still in force
   */
  public record Renewal(LeaseKey key, Status status, Optional<Instant> expiresAt) {}

  /**
   * The result of a claim for many workers.
   *
   * @param hands the leases for each request, in the order of the requests; empty while the worker
   *     has to wait
   * @param nextDueIn how long until there may be more, if that is known
   */
  public record Dealt(List<Optional<List<Lease>>> hands, Optional<Duration> nextDueIn) {}

  private final String tenant;
  private final Db db;
  private final PgLeases leases;
  private final SharedClaims shared;
  private final KnownLeases known;
  private final Starts starts;
  private final Stops stops;
  private final Repeats repeats;
  private final LateReleases lateReleases;

  RemoteLeases(
      Tenant tenant,
      PgLeases leases,
      SharedClaims shared,
      KnownLeases known,
      Starts starts,
      LateReleases lateReleases) {
    this.tenant = tenant.name().value();
    this.db = tenant.db();
    this.leases = leases;
    this.shared = shared;
    this.known = known;
    this.starts = starts;
    this.stops = new Stops(tenant.db());
    this.repeats = new Repeats(tenant.db());
    this.lateReleases = lateReleases;
  }

  public Claimed claim(ClaimRequest request) {
    return leases.claim(request);
  }

  /**
   * Claims once for many workers.
   *
   * @param waiting requests that differ only in worker name, host, limit and claim id; each name
   *     once
   */
  public Dealt claimForAll(List<ClaimRequest> waiting) {
    return shared.claim(waiting);
  }

  /**
   * Gives back leases that their worker certainly does not know of. Each job waits at its old place
   * again, as if it had not been leased.
   */
  public void giveBack(List<Lease> unheard) {
    if (!unheard.isEmpty()) {
      leases.giveBack(unheard);
    }
  }

  /** The hosts that jobs ask for, or asked for earlier: few, and often none. */
  public Set<String> namedHosts() {
    return db.withHandle(
        handle -> handle.createQuery(db.sql(NAMED_HOSTS)).mapTo(String.class).collectIntoSet());
  }

  public LeaseKey key(UUID jobId, long fence) {
    return new LeaseKey(tenant, jobId, fence);
  }

  /** Starts jobs that were dispatched to this worker. */
  public List<Renewal> start(String worker, List<LeaseKey> keys) {
    Map<LeaseKey, Lease> mine = mine(worker, keys);
    Map<LeaseKey, Status> statuses = starts.start(List.copyOf(mine.values()));
    return keys.stream().map(key -> renewal(key, statuses, mine)).toList();
  }

  /** A worker asks its own job to stop; false when the job is not, or no longer, its own. */
  public boolean requestStop(String worker, LeaseKey key) {
    return stops.request(worker, key);
  }

  /**
   * Renews leases.
   *
   * @param length overrides the length of each lease
   */
  public List<Renewal> extend(String worker, List<LeaseKey> keys, Optional<Duration> length) {
    Map<LeaseKey, Lease> mine = mine(worker, keys);
    if (mine.isEmpty()) {
      return keys.stream().map(key -> renewal(key, Map.of(), Map.of())).toList();
    }
    Map<LeaseKey, Status> statuses = new HashMap<>();
    leases
        .extend(
            mine.values().stream()
                .map(lease -> length.map(lease::withLength).orElse(lease))
                .toList())
        .forEach(extension -> statuses.put(extension.key(), extension.status()));
    Map<LeaseKey, Lease> now = known.find(mine.keySet());
    return keys.stream().map(key -> renewal(key, statuses, now)).toList();
  }

  private static Renewal renewal(
      LeaseKey key, Map<LeaseKey, Status> statuses, Map<LeaseKey, Lease> current) {
    Status status = statuses.getOrDefault(key, Status.LOST);
    return new Renewal(
        key,
        status,
        status == Status.LOST
            ? Optional.empty()
            : Optional.ofNullable(current.get(key)).map(Lease::expiresAt));
  }

  /**
   * Records ends; returns replies in the order given. Of two ends of one lease, the first counts.
   */
  public List<FinishReply> finish(List<End> ends) {
    Map<LeaseKey, End> first = new LinkedHashMap<>();
    List<End> later = new ArrayList<>();
    for (End end : ends) {
      if (first.putIfAbsent(key(end), end) != null) {
        later.add(end);
      }
    }
    if (later.isEmpty()) {
      return finishEach(ends);
    }
    IdentityHashMap<End, FinishReply> replies = new IdentityHashMap<>();
    put(replies, List.copyOf(first.values()), finishEach(List.copyOf(first.values())));
    put(replies, later, finish(later));
    return ends.stream().map(replies::get).toList();
  }

  private static void put(
      IdentityHashMap<End, FinishReply> replies, List<End> ends, List<FinishReply> answers) {
    for (int i = 0; i < ends.size(); i++) {
      replies.put(ends.get(i), answers.get(i));
    }
  }

  private LeaseKey key(End end) {
    return key(end.jobId, end.fence);
  }

  private List<FinishReply> finishEach(List<End> ends) {
    List<LeaseKey> keys = ends.stream().map(this::key).toList();
    Map<LeaseKey, Lease> leased = known.find(keys);
    List<Finish> finishes = new ArrayList<>();
    for (End end : ends) {
      Optional.ofNullable(leased.get(key(end)))
          .filter(lease -> lease.worker().equals(end.worker))
          .map(lease -> new Finish(lease, end.outcome, end.logExcerpt))
          .ifPresent(finishes::add);
    }
    Map<LeaseKey, FinishReply> replies = new HashMap<>();
    if (!finishes.isEmpty()) {
      List<FinishReply> answers = leases.finish(finishes);
      for (int i = 0; i < finishes.size(); i++) {
        replies.put(finishes.get(i).lease().key(), answers.get(i));
      }
    }
    List<Repeats.Said> late =
        ends.stream().filter(end -> !replies.containsKey(key(end))).map(this::said).toList();
    repeats.recorded(late).forEach((key, known) -> replies.put(key, known.reply()));
    lateReleases.heard(late);
    return keys.stream().map(key -> replies.getOrDefault(key, new FinishReply.Lost())).toList();
  }

  /** Stores what a running attempt reports. */
  public ReportReply report(LeaseKey key, Report report) {
    return Optional.ofNullable(known.find(List.of(key)).get(key))
        .map(lease -> leases.report(lease, report))
        .orElseGet(() -> leases.reportLate(key, report));
  }

  /**
   * Renews the lease as {@link #submit} will, for a submission that may have to wait until it is
   * stored. Changes nothing when the submission is stored already or the lease is over.
   */
  public void keep(LeaseKey key, Submission said) {
    leases.keep(key, said);
  }

  /** Stores what an attempt reports and how it goes on, in one transaction. */
  public ReportReply submit(LeaseKey key, Submission said) {
    return Optional.ofNullable(known.find(List.of(key)).get(key))
        .map(lease -> leases.submit(lease, said))
        .orElseGet(() -> leases.reportLate(key, said.report()));
  }

  private Map<LeaseKey, Lease> mine(String worker, List<LeaseKey> keys) {
    Map<LeaseKey, Lease> mine = new HashMap<>(known.find(keys));
    mine.values().removeIf(lease -> !lease.worker().equals(worker));
    return mine;
  }

  private Repeats.Said said(End end) {
    if (end.outcome instanceof Outcome.NeverStarted) {
      throw notAWorkers(end.outcome);
    }
    return new Repeats.Said(key(end), end.worker, end.outcome.stored(), errorCode(end.outcome));
  }

  private static HoldfastException notAWorkers(Outcome outcome) {
    return new HoldfastException(
        ErrorCode.INVALID_ARGUMENT, outcome + " is not for a worker to say");
  }

  private static Optional<String> errorCode(Outcome outcome) {
    return outcome instanceof Outcome.Failed(Failure failure)
        ? Optional.of(failure.code())
        : Optional.empty();
  }
}
