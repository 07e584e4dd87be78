package dev.holdfast.lease;

import dev.holdfast.error.HoldfastException;
import dev.holdfast.tenant.Db;
import dev.holdfast.tenant.SqlErrors;
import dev.holdfast.tenant.Tenant;
import dev.holdfast.tenant.TenantName;
import dev.holdfast.tenant.Tenants;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.BiFunction;
import java.util.function.Function;
import java.util.stream.Collectors;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Leases of many tenants as one source. One statement asks fifty tenants at a time whether they
 * have work; those that do share the free permits evenly, and whoever went first goes last next
 * time. Thread-safe.
 */
public final class TenantRotation implements LeaseSource {

  private static final Logger log = LoggerFactory.getLogger(TenantRotation.class);

  private static final int PROBED_AT_ONCE = 50;

  // The one statement that is put together: once per group of tenants, from this whole piece.
  private static final String PROBE =
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

  private final Db db;
  private final Tenants tenants;
  private final Function<Tenant, LeaseSource> leasesOf;
  private final BiFunction<ClaimRequest, String, ClaimRequest> inTenant;
  private final Map<String, LeaseSource> sources = new ConcurrentHashMap<>();
  private volatile List<Tenant> known = List.of();
  private int turn;

  public TenantRotation(Tenants tenants, Function<Tenant, LeaseSource> leasesOf) {
    this(tenants, leasesOf, (request, tenant) -> request);
  }

  /**
   * For workers that do not run the same kinds everywhere.
   *
   * @param inTenant what of a request is meant for a tenant
   */
  public TenantRotation(
      Tenants tenants,
      Function<Tenant, LeaseSource> leasesOf,
      BiFunction<ClaimRequest, String, ClaimRequest> inTenant) {
    this.db = tenants.control();
    this.tenants = tenants;
    this.leasesOf = leasesOf;
    this.inTenant = inTenant;
  }

  /** Takes notice of tenants that were created or dropped. */
  public void refresh() {
    List<Tenant> now = tenants.list().stream().map(tenants::tenant).toList();
    Set<String> names =
        now.stream().map(tenant -> tenant.name().value()).collect(Collectors.toSet());
    sources.keySet().retainAll(names);
    known = now;
  }

  @Override
  public Claimed claim(ClaimRequest request) {
    List<Tenant> withWork = inTurn(withWorkNow(request));
    List<Lease> leases = new ArrayList<>();
    Optional<Duration> soon = Optional.empty();
    for (int i = 0; i < withWork.size() && leases.size() < request.limit(); i++) {
      // What the tenants before left over is shared by those still to come.
      int share = Math.ceilDiv(request.limit() - leases.size(), withWork.size() - i);
      try {
        Tenant tenant = withWork.get(i);
        ClaimRequest meant = inTenant.apply(request, tenant.name().value());
        Claimed claimed = source(tenant).claim(meant.withLimit(share));
        leases.addAll(claimed.leases());
        soon = soon.isPresent() ? soon : claimed.nextDueIn().filter(Duration::isZero);
      } catch (HoldfastException e) {
        if (leases.isEmpty()) {
          throw e;
        }
        // What the others granted must reach the worker, or it would wait out its leases.
        log.warn("Could not claim from tenant {}", withWork.get(i).name(), e);
        break;
      }
    }
    return new Claimed(leases, soon);
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

  private List<Tenant> withWorkNow(ClaimRequest request) {
    try {
      return withWork(request);
    } catch (HoldfastException e) {
      if (!SqlErrors.isTenantGone(e)) {
        throw e;
      }
      refresh(); // one of them was dropped since the last time
      return withWork(request);
    }
  }

  private List<Tenant> withWork(ClaimRequest request) {
    List<Tenant> found = new ArrayList<>();
    List<Tenant> all = known;
    for (int from = 0; from < all.size(); from += PROBED_AT_ONCE) {
      List<Tenant> group = all.subList(from, Math.min(from + PROBED_AT_ONCE, all.size()));
      found.addAll(probeTogether(group, request));
    }
    return found;
  }

  // One that cannot be asked, say because nobody granted us its tables yet, must not hide the
  // others.
  private List<Tenant> probeTogether(List<Tenant> group, ClaimRequest request) {
    try {
      return probe(group, request);
    } catch (HoldfastException e) {
      if (SqlErrors.isTenantGone(e) || SqlErrors.isPassing(e)) {
        throw e;
      }
      return group.stream().filter(tenant -> hasWork(tenant, request)).toList();
    }
  }

  private boolean hasWork(Tenant tenant, ClaimRequest request) {
    try {
      return !probe(List.of(tenant), request).isEmpty();
    } catch (HoldfastException e) {
      if (SqlErrors.isPassing(e)) {
        throw e;
      }
      log.warn("Could not ask tenant {} for work", tenant.name(), e);
      return false;
    }
  }

  private List<Tenant> probe(List<Tenant> group, ClaimRequest request) {
    Map<String, Tenant> bySchema = new HashMap<>();
    group.forEach(tenant -> bySchema.put(tenant.db().schema().value(), tenant));
    String sql =
        group.stream()
            .map(tenant -> tenant.db().sql(PROBE))
            .collect(Collectors.joining(" UNION ALL "));
    return db.withHandle(handle ->
        handle
            .createQuery(sql)
            .bindArray("queues", String.class, request.queues())
            .bind("any_kind", request.kinds().isEmpty())
            .bindArray("kinds", String.class, request.kinds().orElse(Set.of()))
            .mapTo(String.class)
            .stream()
            .map(bySchema::get)
            .filter(Objects::nonNull)
            .toList());
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
   * Calls each tenant's source with its items; answers in the order of {@code items}. What fails
   * for one tenant is answered by {@code otherwise} and does not touch the others.
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
