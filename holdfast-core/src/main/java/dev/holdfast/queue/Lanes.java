package dev.holdfast.queue;

import dev.holdfast.error.HoldfastException;
import dev.holdfast.tenant.Db;
import dev.holdfast.tenant.SqlErrors;
import java.sql.Connection;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.Supplier;
import org.jdbi.v3.core.Handle;
import org.jdbi.v3.core.statement.Query;
import org.jdbi.v3.core.statement.Update;

/** Finds the lanes of new jobs, and creates missing ones. Thread-safe. */
final class Lanes {

  private static final String FIND =
      """
      SELECT id
        FROM {schema}.lane
       WHERE queue = :queue AND kind = :kind AND priority = :priority
         AND host = :host AND host_required = :host_required AND labels = :labels
         AND guarded = :guarded
      """;

  private static final String MAKE =
      """
      INSERT INTO {schema}.lane (queue, kind, priority, host, host_required, labels, guarded)
      SELECT :queue, :kind, :priority, :host, :host_required, :labels, :guarded
       WHERE (SELECT count(*) FROM {schema}.lane WHERE queue = :queue) < :most
         AND (SELECT coalesce(max(id), 0) FROM {schema}.lane) % :ids_of_a_tenant < :last
      ON CONFLICT DO NOTHING
      """;

  // Every claim looks into each lane of its queues, and lanes are never removed. A caller that
  // gives every job its own priority or label would make all claims slow for ever.
  static final int MOST_OF_A_QUEUE = 10_000;

  // A tenant's ids are a range of this length, from a multiple of it on. Jobs of lanes beyond it
  // are refused (lane_is_of_this_tenant in 001_jobs).
  static final int IDS_OF_A_TENANT = 1 << 20;

  // Some ids are spent on lanes that somebody else made at the same moment.
  static final int LAST_OF_A_TENANT = 1_000_000; // less than IDS_OF_A_TENANT

  private static final int MOST_REMEMBERED = 10_000;

  private final Map<Lane, Long> ids = new ConcurrentHashMap<>();
  private final Db db;
  private final String find;
  private final String make;

  Lanes(Db db) {
    this.db = db;
    this.find = db.sql(FIND);
    this.make = db.sql(MAKE);
  }

  /**
   * The lane's id; creates the lane if it is missing. Always on a connection of Holdfast's own: in
   * a caller's transaction the new row would make every other enqueuer of that lane wait for the
   * caller's commit. Ids are remembered, since lanes are never removed. After a tenant was dropped
   * and created again, its tables refuse the remembered ids, which are then forgotten.
   */
  long idOf(Lane lane) {
    Long known = ids.get(lane);
    if (known != null) {
      return known;
    }
    if (ids.size() >= MOST_REMEMBERED) {
      ids.clear();
    }
    long found = db.withHandle(handle -> findOrMake(handle, lane));
    ids.put(lane, found);
    return found;
  }

  /**
   * The lane's id, looked up on the caller's own connection: many callers in transactions must not
   * each wait for a second connection of a pool that they have used up.
   */
  long idOf(Connection callers, Lane lane) {
    if (!ids.containsKey(lane)) {
      try (Handle handle = Db.borrowed(callers)) {
        find(handle, lane).ifPresent(found -> ids.put(lane, found));
      }
    }
    return idOf(lane);
  }

  /** Forgets all ids, because they belong to an earlier tenant of the same name. */
  void forget() {
    ids.clear();
  }

  /**
   * Runs work that needs a lane, in a transaction of its own; runs it again if the remembered lane
   * belongs to an earlier tenant of the same name.
   */
  <T> T fitting(Supplier<T> work) {
    try {
      return work.get();
    } catch (HoldfastException e) {
      if (!isOfAnotherTenant(e)) {
        throw e;
      }
      forget();
      return work.get();
    }
  }

  /** Whether the tables refused a remembered lane. */
  static boolean isOfAnotherTenant(Exception e) {
    return SqlErrors.violates(e, "lane_is_of_this_tenant");
  }

  private long findOrMake(Handle handle, Lane lane) {
    return find(handle, lane)
        .or(() -> {
          make(handle, lane);
          return find(handle, lane);
        })
        .orElseThrow(() ->
            HoldfastException.invalid(
                "queue",
                lane.queue(),
                "one with at most %d different pairings of kind, priority, host and labels, and %d in all queues"
                    .formatted(MOST_OF_A_QUEUE, LAST_OF_A_TENANT)));
  }

  private void make(Handle handle, Lane lane) {
    Update update =
        handle
            .createUpdate(make)
            .bind("most", MOST_OF_A_QUEUE)
            .bind("ids_of_a_tenant", IDS_OF_A_TENANT)
            .bind("last", LAST_OF_A_TENANT);
    lane.bindTo(update);
    update.execute();
  }

  private Optional<Long> find(Handle handle, Lane lane) {
    Query query = handle.createQuery(find);
    lane.bindTo(query);
    return query.mapTo(Long.class).findOne();
  }
}
