package dev.holdfast.fleet;

import dev.holdfast.job.Limits;
import dev.holdfast.job.Payload;
import dev.holdfast.job.Placement;
import dev.holdfast.tenant.Columns;
import dev.holdfast.tenant.Db;
import dev.holdfast.tenant.TenantName;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.util.List;
import java.util.Optional;
import java.util.Set;

/** The workers that are online, wherever they run. */
public final class Workers {

  private static final String SERVED =
      """
      SELECT EXISTS (
        SELECT
          FROM {schema}.worker
         WHERE beat_at > now() - :absent_ms * interval '1 millisecond'
           AND (tenant IS NULL OR tenant = :tenant)
           AND :queue = ANY (queues)
           AND (kinds IS NULL OR :kind = ANY (kinds))
           AND labels @> :labels
           AND (:host::text IS NULL OR host = :host))
      """;

  private static final String LIST =
      """
      SELECT name, host, labels, tenant, queues, kinds, info, started_at, beat_at,
             beat_at > now() - :absent_ms * interval '1 millisecond' AS online
        FROM {schema}.worker
       WHERE (tenant IS NULL OR tenant = :tenant) AND name > :after
       ORDER BY name, started_at
       LIMIT :limit
      """;

  private final Db db;
  private final String served;
  private final String list;

  public Workers(Db control) {
    this.db = control;
    this.served = control.sql(SERVED);
    this.list = control.sql(LIST);
  }

  /** Those that serve a tenant, in the order of their names, from one on. */
  public List<WorkerState> list(TenantName tenant, String after, int limit) {
    Limits.page("limit", limit);
    return db.withHandle(handle ->
        handle
            .createQuery(list)
            .bind("absent_ms", Presence.ABSENT_AFTER.toMillis())
            .bind("tenant", tenant.value())
            .bind("after", after)
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
            row.getArray("kinds") == null
                ? Optional.empty()
                : Optional.of(Set.copyOf(Columns.texts(row, "kinds"))));
    return new WorkerState(
        info,
        Columns.instant(row, "started_at"),
        Columns.instant(row, "beat_at"),
        row.getBoolean("online"),
        Columns.optionalText(row, "info").map(Payload::new));
  }

  /**
   * Whether there is one for such jobs.
   *
   * @param host the one that they require
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
