package dev.holdfast.testkit;

import dev.holdfast.Holdfast;
import dev.holdfast.audit.Audit;
import dev.holdfast.hold.Resources;
import dev.holdfast.invariant.Invariants;
import dev.holdfast.job.Job;
import dev.holdfast.lease.LanePositions;
import dev.holdfast.lease.PgLeases;
import dev.holdfast.queue.Acts;
import dev.holdfast.queue.Jobs;
import dev.holdfast.queue.Queues;
import dev.holdfast.reap.Reaper;
import dev.holdfast.schedule.Scheduler;
import dev.holdfast.schedule.Schedules;
import dev.holdfast.tenant.Tenant;
import dev.holdfast.tenant.TenantName;
import dev.holdfast.worker.WorkerBuilder;
import java.time.Duration;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.UUID;
import java.util.concurrent.atomic.AtomicLong;
import java.util.random.RandomGenerator;
import org.junit.jupiter.api.extension.AfterEachCallback;
import org.junit.jupiter.api.extension.BeforeEachCallback;
import org.junit.jupiter.api.extension.ExtensionContext;

/**
 * A tenant of its own for each test, with a clock that the test moves. Register it as a field:
 *
 * <pre>{@code
 * @RegisterExtension final TestTenant tenant = new TestTenant();
 * }</pre>
 *
 * <p>Tests enqueue, advance the time, and call {@code worker.runDue()}, which runs what is due in
 * the calling thread. Nothing sleeps.
 */
public final class TestTenant implements BeforeEachCallback, AfterEachCallback {

  private static final AtomicLong NUMBER = new AtomicLong();

  private final TenantName name = new TenantName("test_" + NUMBER.incrementAndGet());
  private Duration ahead = Duration.ZERO;
  private Optional<Instant> stoppedAt = Optional.empty();

  @Override
  public void beforeEach(ExtensionContext context) {
    holdfast().tenants().create(name);
  }

  @Override
  public void afterEach(ExtensionContext context) {
    holdfast().tenants().drop(name);
  }

  public Holdfast holdfast() {
    return TestDatabase.shared().holdfast();
  }

  public TenantName name() {
    return name;
  }

  public Tenant tenant() {
    return holdfast().tenants().tenant(name);
  }

  public Jobs jobs() {
    return holdfast().jobs(name);
  }

  public Acts acts() {
    return holdfast().acts(name);
  }

  public Resources resources() {
    return holdfast().resources(name);
  }

  public Queues queues() {
    return holdfast().queues(name);
  }

  public Schedules schedules() {
    return holdfast().schedules(name);
  }

  public Audit audit() {
    return holdfast().audit(name);
  }

  /** A scheduler for this tenant; call {@code runOnce()}, or start it for real. */
  public Scheduler scheduler() {
    return holdfast().scheduler(name);
  }

  /**
   * Checks the invariants, which must hold at any time. Not for tests that wrote rows themselves:
   * tables accept rows that the engine would never write.
   */
  public Invariants invariants() {
    return holdfast().invariants(name);
  }

  /** Takes jobs from silent workers, as some node does sooner or later. */
  public void reap() {
    new Reaper(tenant(), RandomGenerator.getDefault(), () -> {}).runOnce();
    // A node of another test may be reaping all tenants, and the rows that it has locked were
    // skipped. This waits for it.
    query(
        """
        SELECT id FROM {schema}.job
         WHERE lease_expires_at < {schema}.clock() ORDER BY id FOR SHARE
        """);
  }

  /**
   * Claims and finishes by hand, on no host. The clock of the positions stands still, so that each
   * claim begins at the start of every lane.
   */
  public PgLeases leases() {
    return new PgLeases(
        tenant(), Set::of, new LanePositions(() -> 0), RandomGenerator.getDefault(), () -> {});
  }

  /** A worker for this tenant; {@code build()} it for {@code runDue()}, or start it for real. */
  public WorkerBuilder worker() {
    return holdfast().worker(name);
  }

  /** The job as it is stored now. */
  public Job job(UUID id) {
    return jobs().get(id).orElseThrow(() -> new AssertionError("no job " + id));
  }

  /** Moves the tenant's clock forward. It goes on running from there, unless it was stopped. */
  public void advance(Duration duration) {
    ahead = ahead.plus(duration);
    setClock(
        stoppedAt
            .map(at -> "timestamptz ''" + at.plus(ahead) + "''")
            .orElse("statement_timestamp() + interval ''" + ahead.toMillis() + " milliseconds''"));
  }

  /**
   * Stops the tenant's clock half a minute past a full minute; only {@link #advance} moves it then.
   */
  public void stopClock() {
    ahead = Duration.ZERO;
    stoppedAt = Optional.of(Instant.now().truncatedTo(ChronoUnit.MINUTES).plusSeconds(30));
    advance(Duration.ZERO);
  }

  private void setClock(String sql) {
    execute(
        """
        CREATE OR REPLACE FUNCTION {schema}.clock() RETURNS timestamptz
          LANGUAGE sql STABLE PARALLEL SAFE
          AS 'SELECT %s'
        """
            .formatted(sql));
  }

  /** Runs a statement; {@code {schema}} stands for this tenant's schema. */
  public void execute(String sql) {
    tenant().db().jdbi().useHandle(handle -> handle.execute(tenant().db().sql(sql)));
  }

  /** Runs a query; {@code {schema}} stands for this tenant's schema. */
  public List<Map<String, Object>> query(String sql) {
    return tenant()
        .db()
        .jdbi()
        .withHandle(handle -> handle.createQuery(tenant().db().sql(sql)).mapToMap().list());
  }
}
