package dev.holdfast.queue;

import dev.holdfast.tenant.Db;
import java.util.Optional;
import org.jdbi.v3.core.Handle;
import org.jdbi.v3.core.Jdbi;
import org.jdbi.v3.core.statement.Query;
import org.jdbi.v3.core.statement.Update;

/** Finds the lanes that new jobs stand in, and makes missing ones. */
final class Lanes {

  private static final String FIND =
      """
      SELECT id
        FROM {schema}.lane
       WHERE queue = :queue AND kind = :kind AND priority = :priority
         AND host = :host AND host_required = :host_required AND labels = :labels
      """;

  private static final String MAKE =
      """
      INSERT INTO {schema}.lane (queue, kind, priority, host, host_required, labels)
      VALUES (:queue, :kind, :priority, :host, :host_required, :labels)
      ON CONFLICT DO NOTHING
      """;

  private final Jdbi jdbi;
  private final String find;
  private final String make;

  Lanes(Db db) {
    this.jdbi = db.jdbi();
    this.find = db.sql(FIND);
    this.make = db.sql(MAKE);
  }

  /**
   * The lane's id, made if need be. Always on a connection of our own: in a caller's transaction
   * the new row would make every other enqueuer of that lane wait for the caller's commit.
   */
  int idOf(Lane lane) {
    return jdbi.withHandle(handle ->
        find(handle, lane)
            .or(() -> {
              make(handle, lane);
              return find(handle, lane);
            })
            .orElseThrow());
  }

  private void make(Handle handle, Lane lane) {
    Update update = handle.createUpdate(make);
    lane.bindTo(update);
    update.execute();
  }

  private Optional<Integer> find(Handle handle, Lane lane) {
    Query query = handle.createQuery(find);
    lane.bindTo(query);
    return query.mapTo(Integer.class).findOne();
  }
}
