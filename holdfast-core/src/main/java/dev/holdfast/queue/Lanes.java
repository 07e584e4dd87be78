package dev.holdfast.queue;

import dev.holdfast.tenant.Db;
import org.jdbi.v3.core.Jdbi;

/** Finds the lanes that new jobs stand in, and makes missing ones. */
final class Lanes {

  // The update of nothing makes RETURNING answer for a lane that was there already.
  private static final String INTERN =
      """
      INSERT INTO {schema}.lane (queue, kind, priority, host, host_required, labels)
      VALUES (:queue, :kind, :priority, :host, :host_required, :labels)
      ON CONFLICT (queue, kind, priority, host, host_required, labels)
      DO UPDATE SET queue = excluded.queue
      RETURNING id
      """;

  private final Jdbi jdbi;
  private final String intern;

  Lanes(Db db) {
    this.jdbi = db.jdbi();
    this.intern = db.sql(INTERN);
  }

  /**
   * The lane's id, made if need be. Always on a connection of our own: in a caller's transaction
   * the new row would make every other enqueuer of that lane wait for the caller's commit.
   */
  int idOf(Lane lane) {
    return jdbi.withHandle(handle -> {
      var query = handle.createQuery(intern);
      lane.bindTo(query);
      return query.mapTo(Integer.class).one();
    });
  }
}
