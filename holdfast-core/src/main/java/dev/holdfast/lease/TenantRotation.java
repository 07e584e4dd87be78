package dev.holdfast.lease;

import static java.util.Comparator.naturalOrder;

import dev.holdfast.tenant.SqlErrors;
import dev.holdfast.tenant.Survey;
import dev.holdfast.tenant.Tenant;
import dev.holdfast.tenant.TenantName;
import dev.holdfast.tenant.Tenants;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collection;
import java.util.Collections;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.BiFunction;
import java.util.function.Function;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Leases of many tenants as one source. Tenants that have work share the free permits evenly, and
 * the tenant that went first goes last next time. Which tenants have work is known from
 * announcements and from the last claims; all tenants are asked, many with one statement, when none
 * is known to have work, and every two seconds. Thread-safe.
 */
public final class TenantRotation implements LeaseSource {

  private static final Logger log = LoggerFactory.getLogger(TenantRotation.class);

  // Work whose announcement got lost is found after this time, as by any worker.
  private static final Duration ALL_ASKED_EVERY = Duration.ofSeconds(2);

  private static final String HAS_WORK =
      """
      SELECT '{schema}' AS schema_name
       WHERE EXISTS (
         SELECT
           FROM {schema}.lane
          CROSS JOIN LATERAL (
            SELECT
              FROM {schema}.job
             WHERE job.lane = lane.id AND job.state = 'queued' AND job.waiting_on IS NULL
               AND job.run_at <= {schema}.clock()
             ORDER BY job.run_at -- or the planner reads the whole table in search of the one row
             LIMIT 1
          ) AS due
          WHERE lane.queue = ANY (:queues) AND (:any_kind OR lane.kind = ANY (:kinds)))
      """;

  private final Tenants tenants;
  private final Function<Tenant, LeaseSource> leasesOf;
  private final BiFunction<ClaimRequest, String, ClaimRequest> inTenant;
  private final Map<String, LeaseSource> sources = new ConcurrentHashMap<>();
  private final Set<String> mayHaveWork = ConcurrentHashMap.newKeySet();
  private volatile List<Tenant> known = List.of();
  private final Survey hasWork = new Survey(HAS_WORK);
  private volatile long allAskedNanos = System.nanoTime() - ALL_ASKED_EVERY.toNanos();
  private int turn;

  public TenantRotation(Tenants tenants, Function<Tenant, LeaseSource> leasesOf) {
    this(tenants, leasesOf, (request, tenant) -> request);
  }

  /**
   * For workers that do not run the same kinds in every tenant.
   *
   * @param inTenant reduces a request to what is meant for a tenant
   */
  public TenantRotation(
      Tenants tenants,
      Function<Tenant, LeaseSource> leasesOf,
      BiFunction<ClaimRequest, String, ClaimRequest> inTenant) {
    this.tenants = tenants;
    this.leasesOf = leasesOf;
    this.inTenant = inTenant;
  }

  /** Takes notice of tenants that were created or dropped. */
  public void refresh() {
    List<Tenant> now = tenants.list().stream().map(tenants::tenant).toList();
    Set<String> names = names(now);
    sources.keySet().retainAll(names);
    mayHaveWork.retainAll(names);
    known = now;
  }

  @Override
  public void announced(String tenant) {
    mayHaveWork.add(tenant);
  }

  private static Set<String> names(Collection<Tenant> tenants) {
    return tenants.stream().map(tenant -> tenant.name().value()).collect(Collectors.toSet());
  }

  @Override
  public Claimed claim(ClaimRequest request) {
    List<Tenant> withWork = inTurn(withWork(request));
    List<Lease> leases = new ArrayList<>();
    List<RuntimeException> failures = new ArrayList<>();
    Optional<Duration> soon = Optional.empty();
    for (int i = 0; i < withWork.size() && leases.size() < request.limit(); i++) {
      // What the earlier tenants left over is shared by the remaining ones.
      int share = Math.ceilDiv(request.limit() - leases.size(), withWork.size() - i);
      try {
        Claimed claimed = claim(withWork.get(i), request.withLimit(share));
        leases.addAll(claimed.leases());
        // A tenant that got its whole share may have more, for permits that others leave over.
        Optional<Duration> next =
            claimed.leases().size() == share ? Optional.of(Duration.ZERO) : soon(claimed);
        soon = Stream.of(soon, next).flatMap(Optional::stream).min(naturalOrder());
      } catch (RuntimeException e) { // also one of the application's own, from its hook
        if (SqlErrors.isTenantGone(e)) {
          continue; // dropped since its work was announced
        }
        log.warn("Could not claim from tenant {}", withWork.get(i).name(), e);
        failures.add(e);
        if (SqlErrors.isPassing(e) && (!SqlErrors.isImpatience(e) || !leases.isEmpty())) {
          break; // it took its time, and the others' leases run; or the database is away for all
        }
      }
    }
    // Leases that other tenants granted must reach the worker, or their jobs would wait until the
    // leases expire.
    if (leases.isEmpty() && !failures.isEmpty()) {
      throw failures.getFirst();
    }
    return new Claimed(leases, soon);
  }

  private Claimed claim(Tenant tenant, ClaimRequest request) {
    String name = tenant.name().value();
    mayHaveWork.remove(name); // before it is asked, so that what is announced meanwhile counts
    Claimed claimed = source(tenant).claim(inTenant.apply(request, name));
    if (claimed.leases().size() == request.limit() || soon(claimed).isPresent()) {
      mayHaveWork.add(name);
    }
    return claimed;
  }

  // Jobs that are due later are found when all tenants are asked.
  private static Optional<Duration> soon(Claimed claimed) {
    return claimed.nextDueIn().filter(next -> next.compareTo(ALL_ASKED_EVERY) < 0);
  }

  @Override
  public List<Extension> extend(List<Lease> leases) {
    return perTenant(
        leases,
        Lease::key,
        LeaseSource::extend,
        lease -> new Extension(lease.key(), Extension.Status.BUSY));
  }

  @Override
  public ReportReply report(Lease lease, Report report) {
    return source(lease.key()).report(lease, report);
  }

  @Override
  public List<FinishReply> finish(List<Finish> finished) {
    return perTenant(
        finished,
        finish -> finish.lease().key(),
        LeaseSource::finish,
        finish -> new FinishReply.NotNow("tenant cannot be reached"));
  }

  @Override
  public FinishReply finishInTransaction(Lease lease, TransactionWork work) throws Exception {
    return source(lease.key()).finishInTransaction(lease, work);
  }

  private List<Tenant> withWork(ClaimRequest request) {
    boolean itIsTime = System.nanoTime() - allAskedNanos >= ALL_ASKED_EVERY.toNanos();
    if (itIsTime || mayHaveWork.isEmpty() || request.thorough()) {
      allAskedNanos = System.nanoTime();
      mayHaveWork.addAll(names(askAll(request)));
    }
    return known.stream().filter(each -> mayHaveWork.contains(each.name().value())).toList();
  }

  private Set<Tenant> askAll(ClaimRequest request) {
    return hasWork
        .ask(
            known,
            query ->
                query
                    .bindArray("queues", String.class, request.queues())
                    .bind("any_kind", request.kinds().isEmpty())
                    .bindArray("kinds", String.class, request.kinds().orElse(Set.of())),
            (row, context) -> true)
        .keySet();
  }

  private synchronized List<Tenant> inTurn(List<Tenant> withWork) {
    List<Tenant> rotated = new ArrayList<>(withWork);
    if (!rotated.isEmpty()) {
      Collections.rotate(rotated, -(turn++ % rotated.size()));
    }
    return rotated;
  }

  private LeaseSource source(Tenant tenant) {
    return sources.computeIfAbsent(tenant.name().value(), name -> leasesOf.apply(tenant));
  }

  private LeaseSource source(LeaseKey key) {
    return source(tenants.tenant(new TenantName(key.tenant())));
  }

  /**
   * Calls each tenant's source with its items; returns answers in the order of {@code items}. If it
   * fails for one of several tenants, {@code otherwise} answers for that tenant's items.
   */
  private <T, R> List<R> perTenant(
      List<T> items,
      Function<T, LeaseKey> keyOf,
      BiFunction<LeaseSource, List<T>, List<R>> call,
      Function<T, R> otherwise) {
    Map<String, List<T>> grouped =
        items.stream().collect(Collectors.groupingBy(item -> keyOf.apply(item).tenant()));
    Map<LeaseKey, R> answers = new HashMap<>();
    grouped.forEach((tenant, ofTenant) -> {
      try {
        List<R> answered = call.apply(source(keyOf.apply(ofTenant.getFirst())), ofTenant);
        for (int i = 0; i < ofTenant.size(); i++) {
          answers.put(keyOf.apply(ofTenant.get(i)), answered.get(i));
        }
      } catch (RuntimeException e) {
        if (grouped.size() == 1) {
          throw e;
        }
        log.warn("Tenant {} cannot be reached", tenant, e);
        ofTenant.forEach(item -> answers.put(keyOf.apply(item), otherwise.apply(item)));
      }
    });
    return items.stream().map(keyOf).map(answers::get).toList();
  }
}
