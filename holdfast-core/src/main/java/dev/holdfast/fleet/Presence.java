package dev.holdfast.fleet;

import dev.holdfast.job.Placement;
import dev.holdfast.tenant.Db;
import dev.holdfast.tenant.TenantName;
import java.time.Duration;
import java.util.Optional;
import java.util.UUID;
import java.util.function.Supplier;
import org.jdbi.v3.core.result.RowView;
import org.jspecify.annotations.Nullable;

/**
 * Registers a worker with its heartbeats. The same statement returns which hosts have a worker, and
 * whether this worker is to claim nothing more. Thread-safe.
 */
public final class Presence {

  /** How long a worker may be silent before it counts as absent. */
  public static final Duration ABSENT_AFTER = Duration.ofSeconds(15);

  private static final String BEAT =
      """
      WITH beat AS (
        INSERT INTO {schema}.worker (incarnation, name, host, labels, tenant, queues, kinds, process,
                                     idle_since, poll_ms)
        VALUES
          (:incarnation, :name, :host, :labels, :tenant, :queues, :kinds, :process,
           now() - :idle_ms * interval '1 millisecond', :poll_ms)
        ON CONFLICT (incarnation) DO UPDATE
           SET beat_at = now(),
               kinds = excluded.kinds,
               idle_since = excluded.idle_since,
               -- Not now: this statement may have been under way for long.
               idle_until = CASE WHEN excluded.idle_since IS NOT NULL THEN worker.beat_at END,
               poll_ms = excluded.poll_ms
        RETURNING drain_requested_at IS NOT NULL AS draining
      )
      SELECT online.tenant, online.host, beat.draining
        FROM beat
       CROSS JOIN (SELECT tenant, host
                     FROM {schema}.worker
                    WHERE beat_at > now() - :absent_ms * interval '1 millisecond'
                      AND drain_requested_at IS NULL
                    UNION
                   SELECT :tenant, :host) AS online -- itself is not visible to its own statement
      """;

  private static final String LEAVE =
      """
      DELETE FROM {schema}.worker WHERE incarnation = :incarnation
      """;

  /** What the last heartbeat returned. */
  private record Heard(OnlineHosts online, boolean draining) {

    static Heard nothing() {
      return new Heard(OnlineHosts.empty(), false);
    }

    Heard and(RowView row) {
      return new Heard(online.add(row), row.getColumn("draining", Boolean.class));
    }
  }

  private final UUID incarnation = UUID.randomUUID();
  private final Optional<ProcessId> process = ProcessId.current();
  private final Db db;
  private final Supplier<WorkerInfo> self;
  private final Supplier<Optional<IdleTime>> idle;
  private final String beat;
  private final String leave;
  private volatile Heard heard = Heard.nothing();

  /**
   * The presence of one worker.
   *
   * @param self what it says about itself now; only its kinds may change
   * @param idle whether it has permits left over now, as far as it says that
   */
  public Presence(Db control, Supplier<WorkerInfo> self, Supplier<Optional<IdleTime>> idle) {
    this.db = control;
    this.self = self;
    this.idle = idle;
    this.beat = control.sql(BEAT);
    this.leave = control.sql(LEAVE);
  }

  /** The hosts that have a live worker for a tenant, one that is not to drain. */
  public Hosts hostsOf(TenantName tenant) {
    return () -> heard.online.of(tenant);
  }

  /** Whether the worker was asked to claim nothing more. */
  public boolean isDraining() {
    return heard.draining;
  }

  public void beat() {
    WorkerInfo worker = self.get();
    Optional<IdleTime> left = idle.get();
    heard =
        db.withHandle(handle ->
            handle
                .createQuery(beat)
                .bind("incarnation", incarnation)
                .bind("name", worker.name())
                .bind("host", worker.host())
                .bindArray("labels", String.class, (Object[]) Placement.stored(worker.labels()))
                .bind("tenant", worker.tenant().orElse(null))
                .bindArray("queues", String.class, worker.queues())
                .bindByType("kinds", kinds(worker), String[].class)
                .bind("process", process.map(ProcessId::stored).orElse(null))
                .bind("idle_ms", left.map(each -> each.length().toMillis()).orElse(null))
                .bind("poll_ms", left.map(each -> each.pollInterval().toMillis()).orElse(null))
                .bind("absent_ms", ABSENT_AFTER.toMillis())
                .reduceRows(Heard.nothing(), Heard::and));
  }

  private static String @Nullable [] kinds(WorkerInfo worker) {
    return worker.kinds().map(kinds -> kinds.toArray(String[]::new)).orElse(null);
  }

  public void leave() {
    db.useHandle(handle -> handle.createUpdate(leave).bind("incarnation", incarnation).execute());
  }
}
