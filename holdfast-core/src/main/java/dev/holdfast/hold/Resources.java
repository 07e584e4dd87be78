package dev.holdfast.hold;

import dev.holdfast.audit.Act;
import dev.holdfast.audit.Audit;
import dev.holdfast.error.ErrorCode;
import dev.holdfast.error.HoldfastException;
import dev.holdfast.hold.ResourceState.Blocker;
import dev.holdfast.hold.ResourceState.Holder;
import dev.holdfast.hold.ResourceState.Waiter;
import dev.holdfast.job.Limits;
import dev.holdfast.job.Needs;
import dev.holdfast.tenant.Columns;
import dev.holdfast.tenant.Db;
import dev.holdfast.tenant.Tenant;
import dev.holdfast.wake.Announcer;
import java.time.Duration;
import java.util.List;
import java.util.UUID;
import org.jdbi.v3.core.Handle;
import org.jdbi.v3.core.mapper.RowMapper;

/**
 * The resources of one tenant, as operators see them. They need no registration: a resource is
 * known once a job needed it, or it was given a capacity other than one. Thread-safe.
 */
public final class Resources {

  private static final int MOST_WAITERS = 1_000;

  private static final String NAMES =
      """
      SELECT name FROM {schema}.resource WHERE name > :after ORDER BY name LIMIT :limit
      """;

  // Waiters are counted no further than they are listed.
  private static final String SUMMARIES =
      """
      SELECT resource.name, resource.capacity,
             (SELECT count(*) FROM {schema}.hold WHERE hold.resource = resource.name) AS holders,
             (SELECT count(*) FROM {schema}.block WHERE block.resource = resource.name) AS blocks,
             (SELECT count(*)
                FROM (SELECT
                        FROM {schema}.job
                       WHERE job.waiting_on = resource.name
                       LIMIT :most) AS waiter) AS waiters
        FROM {schema}.resource
       WHERE resource.name > :after
       ORDER BY resource.name
       LIMIT :limit
      """;

  private static final String CAPACITY =
      """
      SELECT coalesce((SELECT capacity FROM {schema}.resource WHERE name = :name), 1)
      """;

  private static final String HOLDERS =
      """
      SELECT job_id, fence, since, passes_at
        FROM {schema}.hold
       WHERE resource = :name
       ORDER BY since, job_id
      """;

  private static final String BLOCKS =
      """
      SELECT job_id, reason, actor, since
        FROM {schema}.block
       WHERE resource = :name
       ORDER BY since, job_id
      """;

  private static final String OLD_BLOCKS =
      """
      SELECT job_id, reason, actor, since
        FROM {schema}.block
       WHERE since < {schema}.clock() - :age_ms * interval '1 millisecond'
       ORDER BY since
       LIMIT 1000
      """;

  private static final String WAITERS =
      """
      SELECT first.id, first.waiting_since
        FROM {schema}.lanes_waiting_on(:name) AS waiting
        JOIN {schema}.lane ON lane.id = waiting.lane
       CROSS JOIN LATERAL (
         SELECT job.id, job.waiting_since, job.run_at, job.seq
           FROM {schema}.job
          WHERE job.waiting_on = :name AND job.lane = waiting.lane
          ORDER BY job.run_at, job.seq
          LIMIT :limit
       ) AS first
       ORDER BY lane.priority, first.run_at, first.seq
       LIMIT :limit
      """;

  private static final String SET_CAPACITY =
      """
      UPDATE {schema}.resource
         SET capacity = :capacity, capacity_at = {schema}.clock()
       WHERE name = :name
      """;

  private static final String REMOVE_BLOCKS =
      """
      DELETE FROM {schema}.block WHERE resource = :name
      """;

  private static final String REMOVE_LINGERING =
      """
      DELETE FROM {schema}.hold WHERE resource = :name AND passes_at IS NOT NULL
      """;

  private static final RowMapper<Holder> HOLDER =
      (row, context) ->
          new Holder(
              row.getObject("job_id", UUID.class),
              row.getLong("fence"),
              Columns.instant(row, "since"),
              Columns.optionalInstant(row, "passes_at"));

  private static final RowMapper<Blocker> BLOCKER =
      (row, context) ->
          new Blocker(
              row.getObject("job_id", UUID.class),
              row.getString("reason"),
              row.getString("actor"),
              Columns.instant(row, "since"));

  private static final RowMapper<Waiter> WAITER =
      (row, context) ->
          new Waiter(row.getObject("id", UUID.class), Columns.instant(row, "waiting_since"));

  private final String tenant;
  private final Db db;
  private final Announcer announcer;
  private final Holds holds;
  private final Audit audit;

  public Resources(Tenant tenant, Announcer announcer) {
    this.tenant = tenant.name().value();
    this.db = tenant.db();
    this.announcer = announcer;
    this.holds = new Holds(db);
    this.audit = new Audit(db);
  }

  /** The names of known resources that come after {@code after}, in order. */
  public List<String> names(String after, int limit) {
    Limits.page("limit", limit);
    return db.withHandle(handle ->
        handle
            .createQuery(db.sql(NAMES))
            .bind("after", after)
            .bind("limit", limit)
            .mapTo(String.class)
            .list());
  }

  /** A resource in numbers. */
  public record Summary(String name, int capacity, long holders, long blocks, long waiters) {}

  /** The known resources whose names come after {@code after}, in order. */
  public List<Summary> list(String after, int limit) {
    Limits.page("limit", limit);
    return db.inTransaction(handle ->
        handle
            .createQuery(db.sql(SUMMARIES))
            .bind("after", after)
            .bind("limit", limit)
            .bind("most", MOST_WAITERS)
            .map((row, context) ->
                new Summary(
                    row.getString("name"),
                    row.getInt("capacity"),
                    row.getLong("holders"),
                    row.getLong("blocks"),
                    row.getLong("waiters")))
            .list());
  }

  /** The state of a resource. One that no job has needed yet is free, with a capacity of one. */
  public ResourceState get(String name) {
    Needs.resource("resource", name);
    return db.withHandle(handle -> get(handle, name));
  }

  private ResourceState get(Handle handle, String name) {
    return new ResourceState(
        name,
        capacity(handle, name),
        handle.createQuery(db.sql(HOLDERS)).bind("name", name).map(HOLDER).list(),
        handle.createQuery(db.sql(BLOCKS)).bind("name", name).map(BLOCKER).list(),
        handle
            .createQuery(db.sql(WAITERS))
            .bind("name", name)
            .bind("limit", MOST_WAITERS)
            .map(WAITER)
            .list());
  }

  private int capacity(Handle handle, String name) {
    return handle.createQuery(db.sql(CAPACITY)).bind("name", name).mapTo(Integer.class).one();
  }

  /** The jobs that have blocked their targets for longer than {@code age}, the longest first. */
  public List<Blocker> blocksOlderThan(Duration age) {
    return db.withHandle(handle ->
        handle.createQuery(db.sql(OLD_BLOCKS)).bind("age_ms", age.toMillis()).map(BLOCKER).list());
  }

  /**
   * Sets how many jobs may hold the resource at once. If more hold it now, nothing is taken from
   * them; the capacity is reached as they end.
   */
  public void setCapacity(String name, int capacity, Act act) {
    Needs.resource("resource", name);
    Limits.positive("capacity", capacity);
    announce(db.inTransaction(handle -> setCapacity(handle, name, capacity, act)));
  }

  /**
   * The same in the caller's transaction, which has no resource's lock yet. Does nothing when the
   * capacity is set already.
   *
   * @return how many jobs can be claimed now because of it, for {@link #announce}
   */
  public int ensureCapacity(Handle handle, String name, int capacity, Act act) {
    return capacity(handle, name) == capacity ? 0 : setCapacity(handle, name, capacity, act);
  }

  private int setCapacity(Handle handle, String name, int capacity, Act act) {
    return change(
        handle,
        name,
        () -> {
          String before = String.valueOf(capacity(handle, name));
          int changed =
              handle
                  .createUpdate(db.sql(SET_CAPACITY))
                  .bind("name", name)
                  .bind("capacity", capacity)
                  .execute();
          if (changed != 1) { // the lock rules this out
            throw new HoldfastException(ErrorCode.STATE_CONFLICT, "there is no resource " + name);
          }
          audit.write(handle, act, "set_capacity", name, before, String.valueOf(capacity));
        });
  }

  /** Announces that jobs were woken; called after the commit. */
  public void announce(int woken) {
    if (woken > 0) {
      announcer.announce(tenant);
    }
  }

  /**
   * Frees the resource of everything but running work: of blocks, and of holds whose work was not
   * seen to stop. The operator who does this answers for the latter.
   */
  public ResourceState release(String name, Act act) {
    Needs.resource("resource", name);
    announce(db.inTransaction(handle -> change(handle, name, () -> release(handle, name, act))));
    return get(name);
  }

  private void release(Handle handle, String name, Act act) {
    int blocks = handle.createUpdate(db.sql(REMOVE_BLOCKS)).bind("name", name).execute();
    int silent = handle.createUpdate(db.sql(REMOVE_LINGERING)).bind("name", name).execute();
    audit.write(
        handle, act, "release", name, "%d blocks, %d silent".formatted(blocks, silent), "free");
  }

  private int change(Handle handle, String name, Runnable change) {
    List<String> one = List.of(name);
    holds.lockSurely(handle, one);
    change.run();
    return holds.waiting().wake(handle, one);
  }
}
