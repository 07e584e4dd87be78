package dev.holdfast.lease;

import dev.holdfast.lease.ClaimRounds.Round;
import dev.holdfast.tenant.Db;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.ArrayList;
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

/**
 * One claim for many workers that wait for the same kind of work. The jobs are dealt out in the
 * order in which the workers came, and each is leased to the one that gets it, before anybody can
 * see it: all in one transaction.
 */
final class SharedClaims {

  private static final int MOST_JOBS = 500;

  // Nobody's name: it is gone before the transaction ends.
  private static final String DEALER = "(shared)";

  // One for each worker: a fence tells who has a job, also to whoever asks again by a claim's id.
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

  private static final String REMEMBER =
      """
      INSERT INTO {schema}.claim (claim_id, worker, fences, claimed_at)
      VALUES (:claim_id, :worker, :fences, {schema}.clock())
      ON CONFLICT (claim_id) DO NOTHING
      """;

  /**
   * How it went.
   *
   * @param leases what each of those who asked gets, in their order
   * @param nextDueIn when to look again, if that is known
   */
  record Dealt(List<List<Lease>> leases, Optional<Duration> nextDueIn) {}

  private final Db db;
  private final ClaimRounds rounds;
  private final Consequences consequences;
  private final String draw;
  private final String assign;
  private final String remember;

  SharedClaims(Db db, ClaimRounds rounds, Consequences consequences) {
    this.db = db;
    this.rounds = rounds;
    this.consequences = consequences;
    this.draw = db.sql(DRAW);
    this.assign = db.sql(ASSIGN);
    this.remember = db.sql(REMEMBER);
  }

  /**
   * Claims for all of them.
   *
   * @param waiting alike but for their names, limits and claim ids; each name once, because what is
   *     granted together is told apart by it
   */
  Dealt claim(List<ClaimRequest> waiting) {
    Set<ClaimRequest> elsewhere = new HashSet<>(); // got theirs from another node, by the same id
    while (true) {
      int before = elsewhere.size();
      Attempted attempted =
          db.inTransaction(handle -> {
            Attempted done = claim(handle, waiting, elsewhere);
            if (elsewhere.size() > before) {
              handle.rollback(); // what was dealt to those is to go to others
            }
            return done;
          });
      if (elsewhere.size() == before) {
        if (attempted.woken > 0) {
          consequences.woken();
        }
        return attempted.dealt;
      }
    }
  }

  private record Attempted(Dealt dealt, int woken) {}

  private Attempted claim(Handle handle, List<ClaimRequest> waiting, Set<ClaimRequest> elsewhere) {
    List<ClaimRequest> asking = waiting.stream().filter(each -> !elsewhere.contains(each)).toList();
    if (asking.isEmpty()) {
      return new Attempted(dealt(waiting, Map.of(), Optional.empty()), 0);
    }
    int most = Math.min(MOST_JOBS, asking.stream().mapToInt(ClaimRequest::limit).sum());
    Round round = rounds.inOne(handle, asking.getFirst().asOne(DEALER, most));
    Map<ClaimRequest, List<Lease>> hands = assign(handle, deal(round.leases(), asking));
    hands.forEach((request, leases) -> {
      if (!remembered(handle, request, leases)) {
        elsewhere.add(request);
      }
    });
    boolean more = round.unsettled() || round.leases().size() == most;
    Optional<Duration> next = more ? Optional.of(Duration.ZERO) : round.nextDueIn();
    return new Attempted(dealt(waiting, hands, next), round.woken());
  }

  private static Dealt dealt(
      List<ClaimRequest> waiting,
      Map<ClaimRequest, List<Lease>> hands,
      Optional<Duration> nextDueIn) {
    return new Dealt(
        waiting.stream().map(each -> hands.getOrDefault(each, List.of())).toList(), nextDueIn);
  }

  // One each, then another each: nobody waits because somebody else asked for many.
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

  private boolean remembered(Handle handle, ClaimRequest request, List<Lease> leases) {
    if (request.claimId().isEmpty() || leases.isEmpty()) {
      return true;
    }
    return handle
            .createUpdate(remember)
            .bind("claim_id", request.claimId().get())
            .bind("worker", request.worker())
            .bindArray(
                "fences",
                Long.class,
                leases.stream().map(lease -> lease.key().fence()).distinct().toArray())
            .execute()
        == 1;
  }
}
