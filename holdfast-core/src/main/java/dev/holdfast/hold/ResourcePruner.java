package dev.holdfast.hold;

import dev.holdfast.tenant.Db;
import java.util.List;
import org.jdbi.v3.core.Handle;

/**
 * Removes rows of resources that nobody needs any more, or one per site that ever was would stay
 * for ever. Those with a capacity of their own were told to us, and stay.
 */
public final class ResourcePruner {

  private static final int AT_ONCE = 5_000;

  private static final String LOCK_UNUSED =
      """
      SELECT name
        FROM {schema}.resource
       WHERE capacity = 1
         AND NOT EXISTS (SELECT FROM {schema}.hold WHERE hold.resource = resource.name)
         AND NOT EXISTS (SELECT FROM {schema}.block WHERE block.resource = resource.name)
         AND NOT EXISTS (SELECT FROM {schema}.reservation
                          WHERE reservation.resource = resource.name)
         AND NOT EXISTS (SELECT FROM {schema}.job WHERE job.waiting_on = resource.name)
       LIMIT :limit
         FOR UPDATE SKIP LOCKED
      """;

  // Looks again: somebody may have come between the look and the lock.
  private static final String REMOVE =
      """
      DELETE FROM {schema}.resource
       WHERE name = ANY (:names)
         AND NOT EXISTS (SELECT FROM {schema}.hold WHERE hold.resource = resource.name)
         AND NOT EXISTS (SELECT FROM {schema}.block WHERE block.resource = resource.name)
         AND NOT EXISTS (SELECT FROM {schema}.reservation
                          WHERE reservation.resource = resource.name)
         AND NOT EXISTS (SELECT FROM {schema}.job WHERE job.waiting_on = resource.name)
      """;

  private final String lockUnused;
  private final String remove;

  public ResourcePruner(Db db) {
    this.lockUnused = db.sql(LOCK_UNUSED);
    this.remove = db.sql(REMOVE);
  }

  /** In a transaction; answers how many were removed. */
  public int prune(Handle handle) {
    List<String> names =
        handle.createQuery(lockUnused).bind("limit", AT_ONCE).mapTo(String.class).list();
    return names.isEmpty()
        ? 0
        : handle.createUpdate(remove).bindArray("names", String.class, names).execute();
  }
}
