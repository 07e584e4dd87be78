package dev.holdfast.lease;

import dev.holdfast.lease.RemoteLeases.Dealt;
import dev.holdfast.tenant.Db;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.Deque;
import java.util.HashSet;
import java.util.Iterator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.UUID;
import org.jdbi.v3.core.Handle;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Claims once for many workers that wait for the same kind of work. The jobs are dealt out in the
 * order in which the workers asked, and each is leased to its worker before other transactions can
 * see it: all in one transaction.
 */
final class SharedClaims {

  private static final Logger log = LoggerFactory.getLogger(SharedClaims.class);

  private static final int MOST_JOBS = 500;

  // Stands in for the workers' names, and is replaced by them before the transaction ends.
  private static final String DEALER = "(shared)";

  // One fence per worker: a fence tells which worker has a job, also when a claim id is repeated.
  private static final String DRAW =
      """
      SELECT nextval('{schema}.fence') FROM generate_series(1, :count)
      """;

  private static final String ASSIGN =
      """
      WITH dealt AS MATERIALIZED (
        SELECT *
          FROM unnest((SELECT :job_ids), (SELECT :fences), (SELECT :workers))
            AS dealt (job_id, fence, worker)
      ), held AS (
        UPDATE {schema}.hold
           SET fence = dealt.fence
          FROM dealt, {schema}.job
         WHERE job.id = ANY (:job_ids)
           AND job.id = dealt.job_id
           AND hold.resource = ANY (job.resources)
           AND hold.job_id = job.id
           AND hold.fence = job.fence
      )
      UPDATE {schema}.job
         SET worker = dealt.worker, fence = dealt.fence
        FROM dealt
       WHERE job.id = ANY (:job_ids) -- through the primary key, always
         AND job.id = dealt.job_id
         AND job.worker = :dealer
      """;

  private final Db db;
  private final ClaimRounds rounds;
  private final RepeatableClaims repeatable;
  private final Consequences consequences;
  private final String draw;
  private final String assign;

  SharedClaims(Db db, ClaimRounds rounds, Consequences consequences) {
    this.db = db;
    this.rounds = rounds;
    this.repeatable = rounds.repeatable();
    this.consequences = consequences;
    this.draw = db.sql(DRAW);
    this.assign = db.sql(ASSIGN);
  }

  /**
   * Claims for all of these workers.
   *
   * @param waiting requests that differ only in worker name, host, limit and claim id; each name
   *     once, because what is granted together is told apart by it
   */
  Dealt claim(List<ClaimRequest> waiting) {
    while (true) {
      Optional<Deal> deal = db.inTransaction(handle -> claim(handle, waiting));
      if (deal.isPresent()) {
        if (deal.get().woken > 0) {
          consequences.woken();
        }
        List<Optional<List<Lease>>> hands =
            waiting.stream().map(each -> hand(each, deal.get())).toList();
        return new Dealt(hands, deal.get().nextDueIn);
      }
    }
  }

  /**
   * The result once it is committed; {@code known} are claim ids that were granted leases before.
   */
  private record Deal(
      Map<ClaimRequest, List<Lease>> hands,
      Set<String> known,
      int woken,
      Optional<Duration> nextDueIn) {

    boolean isKnown(ClaimRequest request) {
      return request.claimId().filter(known::contains).isPresent();
    }
  }

  private Optional<List<Lease>> hand(ClaimRequest request, Deal deal) {
    return deal.isKnown(request) ? again(request) : Optional.ofNullable(deal.hands.get(request));
  }

  // A worker whose earlier answer got lost, here or at another node, gets it again: in a
  // transaction of its own, because that locks jobs, and claims lock resources first. The leases of
  // the other workers are committed by now and must reach them: if this fails, only this worker
  // keeps waiting, and is looked at again.
  private Optional<List<Lease>> again(ClaimRequest request) {
    try {
      return Optional.of(repeatable.again(request));
    } catch (RuntimeException e) {
      log.debug("Could not answer claim {} again; trying with the next round", request, e);
      return Optional.empty();
    }
  }

  private Optional<Deal> claim(Handle handle, List<ClaimRequest> waiting) {
    Deal nothing = new Deal(Map.of(), known(handle, waiting), 0, Optional.empty());
    List<ClaimRequest> asking = asking(waiting, nothing);
    if (asking.isEmpty()) {
      return Optional.of(nothing);
    }
    int most = Math.min(MOST_JOBS, asking.stream().mapToInt(ClaimRequest::limit).sum());
    Round round = rounds.inOne(handle, asOne(asking, most));
    if (round.leases().size() > most) { // the surplus would be no worker's
      throw new IllegalStateException(round.leases().size() + " leases, asked for " + most);
    }
    Map<ClaimRequest, List<Lease>> hands = assign(handle, deal(round.leases(), asking));
    // In the order of ids, or two nodes that the same workers asked could wait for each other.
    boolean allNew =
        hands.entrySet().stream()
            .sorted(Comparator.comparing(hand -> hand.getKey().claimId().orElse("")))
            .allMatch(hand -> repeatable.remember(handle, hand.getKey(), hand.getValue()));
    if (!allNew) {
      handle.rollback(); // a worker got leases elsewhere meanwhile: start again
      return Optional.empty();
    }
    rounds.tell(handle, asking.getFirst(), hands.values().stream().flatMap(List::stream).toList());
    boolean all = round.leases().size() == most;
    Optional<Duration> next = all ? Optional.of(Duration.ZERO) : round.again();
    return Optional.of(new Deal(hands, nothing.known, round.woken(), next));
  }

  // Of two workers that ask under the same claim id, which clients should not do, the first gets
  // jobs. The other is answered in the next round, in which the id is known.
  private static List<ClaimRequest> asking(List<ClaimRequest> waiting, Deal before) {
    Set<String> ids = new HashSet<>();
    return waiting.stream()
        .filter(each -> !before.isKnown(each) && each.claimId().map(ids::add).orElse(true))
        .toList();
  }

  // A job that only one host may run must not be dealt to a worker on another.
  private static ClaimRequest asOne(List<ClaimRequest> asking, int most) {
    ClaimRequest first = asking.getFirst();
    boolean oneHost = asking.stream().allMatch(each -> each.host().equals(first.host()));
    return first.withPlace(oneHost ? first.host() : "", first.labels()).asOne(DEALER, most);
  }

  private Set<String> known(Handle handle, List<ClaimRequest> waiting) {
    List<String> ids = waiting.stream().flatMap(each -> each.claimId().stream()).toList();
    return ids.isEmpty() ? Set.of() : repeatable.known(handle, ids);
  }

  // One job each, then another each: no worker waits because another asked for many.
  private static Map<ClaimRequest, List<Lease>> deal(
      List<Lease> leases, List<ClaimRequest> asking) {
    Map<ClaimRequest, List<Lease>> hands = new LinkedHashMap<>();
    Deque<Lease> left = new ArrayDeque<>(leases);
    while (!left.isEmpty()) {
      for (ClaimRequest request : asking) {
        if (!left.isEmpty() && size(hands, request) < request.limit()) {
          hands.computeIfAbsent(request, each -> new ArrayList<>()).add(left.removeFirst());
        }
      }
    }
    return hands;
  }

  private static int size(Map<ClaimRequest, List<Lease>> hands, ClaimRequest request) {
    return hands.getOrDefault(request, List.of()).size();
  }

  private Map<ClaimRequest, List<Lease>> assign(
      Handle handle, Map<ClaimRequest, List<Lease>> hands) {
    if (hands.isEmpty()) {
      return hands;
    }
    Iterator<Long> fences = draw(handle, hands.size()).iterator();
    hands.replaceAll((request, hand) -> {
      long fence = fences.next();
      return hand.stream().map(lease -> lease.dealtTo(request.worker(), fence)).toList();
    });
    List<Lease> all = hands.values().stream().flatMap(List::stream).sorted(Lease.BY_JOB).toList();
    handle
        .createUpdate(assign)
        .bind("dealer", DEALER)
        .bindArray("job_ids", UUID.class, all.stream().map(each -> each.key().jobId()).toArray())
        .bindArray("fences", Long.class, all.stream().map(each -> each.key().fence()).toArray())
        .bindArray("workers", String.class, all.stream().map(Lease::worker).toArray())
        .execute();
    return hands;
  }

  private List<Long> draw(Handle handle, int count) {
    return handle.createQuery(draw).bind("count", count).mapTo(Long.class).list();
  }
}
