package dev.holdfast.lease;

import dev.holdfast.tenant.Db;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.jdbi.v3.core.Handle;

/** Counts the places that are left in queues with a concurrency limit. */
final class QueueLimits {

  // Under the queue's row lock, so that two claims cannot both see the last free place. A row that
  // is locked belongs to another claim from this queue; a claim that skips it looks again soon.
  private static final String LIMITED_QUEUES =
      """
      SELECT name
        FROM {schema}.queue
       WHERE name = ANY (:queues) AND concurrency_limit IS NOT NULL AND NOT paused
       ORDER BY name
         FOR UPDATE SKIP LOCKED
      """;

  // A statement of its own, after the lock: a count from before the lock may be outdated.
  private static final String PLACES_LEFT =
      """
      SELECT queue.name,
             queue.concurrency_limit - (
               SELECT count(*)
                 FROM {schema}.job
                 JOIN {schema}.lane ON lane.id = job.lane
                WHERE job.worker IS NOT NULL AND lane.queue = queue.name) AS places
        FROM {schema}.queue
       WHERE queue.name = ANY (:queues)
      """;

  private final String limitedQueues;
  private final String placesLeft;

  QueueLimits(Db db) {
    this.limitedQueues = db.sql(LIMITED_QUEUES);
    this.placesLeft = db.sql(PLACES_LEFT);
  }

  /**
   * Locks these queues; returns how many places each has left. Queues that are paused, or that
   * another claim has locked, are missing.
   */
  Map<String, Integer> lock(Handle handle, Set<String> limited) {
    Map<String, Integer> places = new HashMap<>();
    if (limited.isEmpty()) {
      return places;
    }
    List<String> locked =
        handle
            .createQuery(limitedQueues)
            .bindArray("queues", String.class, limited)
            .mapTo(String.class)
            .list();
    handle
        .createQuery(placesLeft)
        .bindArray("queues", String.class, locked)
        .map((row, context) -> Map.entry(row.getString("name"), row.getInt("places")))
        .forEach(queue -> places.put(queue.getKey(), queue.getValue()));
    return places;
  }
}
