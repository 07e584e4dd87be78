package dev.holdfast.hold;

import dev.holdfast.tenant.Db;
import java.util.List;
import org.jdbi.v3.core.Handle;

/**
 * Removes rows of resources that no job uses any more; otherwise one row per site that ever existed
 * would stay for ever. Resources with a capacity other than one stay, because an operator set it.
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

  // Checks again: a job may have taken, or waited for, a resource between the query and its lock.
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

  /** Called in a transaction; returns how many rows were removed. */
  public int prune(Handle handle) {
    List<String> names =
        handle.createQuery(lockUnused).bind("limit", AT_ONCE).mapTo(String.class).list();
    return names.isEmpty()
        ? 0
        : handle.createUpdate(remove).bindArray("names", String.class, names).execute();
  }
}
