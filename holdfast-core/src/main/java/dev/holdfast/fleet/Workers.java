package dev.holdfast.fleet;

import dev.holdfast.tenant.Db;
import java.util.List;
import java.util.Optional;

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

  private final Db db;
  private final String served;

  public Workers(Db control) {
    this.db = control;
    this.served = control.sql(SERVED);
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
