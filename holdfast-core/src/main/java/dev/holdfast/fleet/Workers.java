package dev.holdfast.fleet;

import dev.holdfast.job.Limits;
import dev.holdfast.job.Payload;
import dev.holdfast.job.Placement;
import dev.holdfast.tenant.Columns;
import dev.holdfast.tenant.Db;
import dev.holdfast.tenant.TenantName;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.UUID;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.jdbi.v3.core.Handle;

/** The registered workers, wherever they run, online or not. */
public final class Workers {

  private static final String SERVED =
      """
      SELECT EXISTS (
        SELECT
          FROM {schema}.worker
         WHERE beat_at > now() - :absent_ms * interval '1 millisecond'
           AND drain_requested_at IS NULL
           AND (tenant IS NULL OR tenant = :tenant)
           AND :queue = ANY (queues)
           AND (kinds IS NULL OR :kind = ANY (kinds))
           AND labels @> :labels
           AND (:host::text IS NULL OR host = :host))
      """;

  private static final String LIST =
      """
      SELECT incarnation, name, host, labels, tenant, queues, kinds, info, started_at, beat_at,
             beat_at > now() - :absent_ms * interval '1 millisecond' AS online,
             drain_requested_at IS NOT NULL AS draining
        FROM {schema}.worker
       WHERE (tenant IS NULL OR tenant = :tenant) AND (name, incarnation) > (:name, :incarnation)
       ORDER BY name, incarnation
       LIMIT :limit
      """;

  private static final String IDLE =
      """
      SELECT name, host, labels, queues, kinds, idle_since, idle_until, poll_ms
        FROM {schema}.worker
       WHERE (tenant IS NULL OR tenant = :tenant) AND idle_since < idle_until
      """;

  // Locked in one order, or this and a round of heartbeats could wait for each other.
  private static final String DRAIN =
      """
      WITH meant AS MATERIALIZED (
        SELECT incarnation
          FROM {schema}.worker
         WHERE name = :name AND (tenant = :tenant OR (:of_all AND tenant IS NULL))
         ORDER BY incarnation
           FOR UPDATE
      )
      UPDATE {schema}.worker
         SET drain_requested_at = CASE WHEN :drain THEN coalesce(drain_requested_at, now()) END
        FROM meant
       WHERE worker.incarnation = meant.incarnation
      """;

  // A name, and which of the workers of that name.
  private static final Pattern PLACE =
      Pattern.compile("(?s)(.+)/(\\p{XDigit}{8}(?:-\\p{XDigit}{4}){3}-\\p{XDigit}{12})");
  private static final UUID LAST = new UUID(-1, -1);

  private final Db db;
  private final String served;
  private final String list;
  private final String idle;

  public Workers(Db control) {
    this.db = control;
    this.served = control.sql(SERVED);
    this.list = control.sql(LIST);
    this.idle = control.sql(IDLE);
  }

  /**
   * The workers that serve a tenant, in the order of their names.
   *
   * @param after the place of a worker, or a name, after which the list begins; empty for all
   */
  public List<WorkerState> list(TenantName tenant, String after, int limit) {
    Limits.page("limit", limit);
    Matcher place = PLACE.matcher(after);
    String name = place.matches() ? place.group(1) : after;
    UUID incarnation = place.matches() ? UUID.fromString(place.group(2)) : LAST;
    String checked = name.isEmpty() ? name : Limits.name("after", name);
    return db.withHandle(handle ->
        handle
            .createQuery(list)
            .bind("absent_ms", Presence.ABSENT_AFTER.toMillis())
            .bind("tenant", tenant.value())
            .bind("name", checked)
            .bind("incarnation", incarnation)
            .bind("limit", limit)
            .map((row, context) -> state(row))
            .list());
  }

  private static WorkerState state(ResultSet row) throws SQLException {
    WorkerInfo info =
        new WorkerInfo(
            row.getString("name"),
            row.getString("host"),
            Placement.read(Columns.texts(row, "labels")),
            Columns.optionalText(row, "tenant"),
            Set.copyOf(Columns.texts(row, "queues")),
            kinds(row).map(Set::copyOf));
    return new WorkerState(
        info,
        info.name() + "/" + row.getString("incarnation"),
        Columns.instant(row, "started_at"),
        Columns.instant(row, "beat_at"),
        row.getBoolean("online"),
        row.getBoolean("draining"),
        Columns.optionalText(row, "info").map(Payload::new));
  }

  private static Optional<List<String>> kinds(ResultSet row) throws SQLException {
    return row.getArray("kinds") == null
        ? Optional.empty()
        : Optional.of(Columns.texts(row, "kinds"));
  }

  /** The workers that had permits which no job of this tenant, or of any, wanted. */
  public List<IdleWorker> idle(TenantName tenant) {
    return db.withHandle(handle ->
        handle
            .createQuery(idle)
            .bind("tenant", tenant.value())
            .map((row, context) -> idleWorker(row))
            .list());
  }

  private static IdleWorker idleWorker(ResultSet row) throws SQLException {
    return new IdleWorker(
        row.getString("name"),
        row.getString("host"),
        Columns.texts(row, "labels"),
        Columns.texts(row, "queues"),
        kinds(row),
        Columns.instant(row, "idle_since"),
        Columns.instant(row, "idle_until"),
        Duration.ofMillis(row.getLong("poll_ms")));
  }

  /**
   * Asks a worker to claim nothing more, or to claim again; it hears of it within seconds. It
   * finishes the jobs that it has.
   *
   * @param ofAll whether this includes a worker that serves all tenants
   * @param drain false to let it claim again
   * @return whether there is such a worker
   */
  public boolean drain(
      Handle handle, TenantName tenant, String name, boolean ofAll, boolean drain) {
    return handle
            .createUpdate(db.sql(DRAIN))
            .bind("name", Limits.name("name", name))
            .bind("tenant", tenant.value())
            .bind("of_all", ofAll)
            .bind("drain", drain)
            .execute()
        > 0;
  }

  /**
   * Whether a worker that is online and not draining serves such jobs.
   *
   * @param host the host that the jobs require
   */
  public boolean anyServes(
      String tenant, String queue, String kind, Optional<String> host, List<String> labels) {
    return db.withHandle(handle ->
        handle
            .createQuery(served)
            .bind("absent_ms", Presence.ABSENT_AFTER.toMillis())
            .bind("tenant", tenant)
            .bind("queue", queue)
            .bind("kind", kind)
            .bind("host", host.orElse(null))
            .bindArray("labels", String.class, labels)
            .mapTo(Boolean.class)
            .one());
  }
}
