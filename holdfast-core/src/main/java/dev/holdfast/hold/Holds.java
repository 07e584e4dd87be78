package dev.holdfast.hold;

import dev.holdfast.tenant.Db;
import java.time.Duration;
import java.time.OffsetDateTime;
import java.time.ZoneOffset;
import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import java.util.Set;
import java.util.UUID;
import org.jdbi.v3.core.Handle;
import org.jdbi.v3.core.statement.Update;
import org.jspecify.annotations.Nullable;

/**
 * Locks resources, and stores which attempt holds which. Holds, blocks and waiting change only in a
 * transaction that has locked the rows of the resources concerned, in the order of their names and
 * before any job's row; that one order is why transactions never wait for each other in a circle.
 */
public final class Holds {

  /** How long work that was not seen to stop may go on after its lease, until it is killed. */
  public static final Duration KILL_GRACE = Duration.ofSeconds(5);

  /**
   * How long callers that must not wait long wait for a lock: much longer than any claim or finish
   * takes, and much shorter than the shortest lease.
   */
  public static final Duration SOON = Duration.ofMillis(300);

  private static final int PASSED_ON_AT_ONCE = 500;

  private static final String BEFORE_LOCKS = "before_locks";

  private static final String MAKE =
      """
      INSERT INTO {schema}.resource (name)
      SELECT wanted.name
        FROM unnest(:names) AS wanted (name)
       WHERE NOT EXISTS (SELECT FROM {schema}.resource WHERE resource.name = wanted.name)
         AND (SELECT set_config('lock_timeout',
                                coalesce(:wait_ms, current_setting('lock_timeout')), true))
               IS NOT NULL
       ORDER BY wanted.name
      ON CONFLICT DO NOTHING
      """;

  // One by one, by index: with an array of unknown values, a scan would compare each row with each
  // of them.
  private static final String LOCK =
      """
      SELECT resource.name
        FROM (SELECT asked.name
                FROM unnest((SELECT :names)) AS asked (name)
               ORDER BY asked.name) AS wanted
       CROSS JOIN LATERAL (
         SELECT name
           FROM {schema}.resource
          WHERE resource.name = wanted.name
            FOR UPDATE
       ) AS resource
       WHERE (SELECT set_config('lock_timeout',
                                coalesce(:wait_ms, current_setting('lock_timeout')), true))
               IS NOT NULL
      """;

  private static final String LOCK_FREE =
      """
      SELECT resource.name
        FROM unnest((SELECT :names)) AS wanted (name)
       CROSS JOIN LATERAL (
         SELECT name
           FROM {schema}.resource
          WHERE resource.name = wanted.name
            FOR UPDATE SKIP LOCKED
       ) AS resource
      """;

  private static final String HOLDS_ANYTHING =
      """
      SELECT EXISTS (SELECT FROM {schema}.hold WHERE resource = ANY (:names) AND job_id = :job_id)
      """;

  // By ctid: under the resources' locks no other transaction moves these rows, and a join of
  // unknown size would be planned as if there were few.
  private static final String RELEASE =
      """
      DELETE FROM {schema}.hold
       WHERE ctid = ANY (ARRAY (
         SELECT mine.ctid
           FROM unnest((SELECT :resources), (SELECT :job_ids), (SELECT :fences))
                  AS freed (resource, job_id, fence)
          CROSS JOIN LATERAL (
            SELECT hold.ctid
              FROM {schema}.hold
             WHERE hold.resource = freed.resource
               AND hold.job_id = freed.job_id
               AND hold.fence = freed.fence
            OFFSET 0
          ) AS mine))
      """;

  private static final String LINGER =
      """
      UPDATE {schema}.hold
         SET passes_at = silent.lease_expires_at + :grace_ms * interval '1 millisecond'
        FROM unnest(:resources, :job_ids, :fences, :expiries)
               AS silent (resource, job_id, fence, lease_expires_at)
       WHERE hold.resource = silent.resource
         AND hold.job_id = silent.job_id
         AND hold.fence = silent.fence
      """;

  private static final String PASSED =
      """
      SELECT DISTINCT resource
        FROM (SELECT resource
                FROM {schema}.hold
               WHERE passes_at <= {schema}.clock()
               ORDER BY passes_at
               LIMIT :limit) AS over
      """;

  private static final String PASS_ON =
      """
      DELETE FROM {schema}.hold WHERE resource = ANY (:names) AND passes_at <= {schema}.clock()
      """;

  private final Waiting waiting;
  private final String make;
  private final String lock;
  private final String lockFree;
  private final String holdsAnything;
  private final String release;
  private final String linger;
  private final String passed;
  private final String passOn;

  public Holds(Db db) {
    this.waiting = new Waiting(db);
    this.make = db.sql(MAKE);
    this.lock = db.sql(LOCK);
    this.lockFree = db.sql(LOCK_FREE);
    this.holdsAnything = db.sql(HOLDS_ANYTHING);
    this.release = db.sql(RELEASE);
    this.linger = db.sql(LINGER);
    this.passed = db.sql(PASSED);
    this.passOn = db.sql(PASS_ON);
  }

  /** The jobs that wait for resources; to be changed only under the resources' locks. */
  public Waiting waiting() {
    return waiting;
  }

  /**
   * Makes rows for resources that have none. Comes before any lock.
   *
   * @return how many were made; a rollback removes them again
   */
  public int make(Handle handle, Collection<String> names) {
    return make(handle, names, null);
  }

  /**
   * The same, for callers that must not wait long: another transaction that makes the same row may
   * be frozen before its commit. Throws as {@link #lockSoon} does.
   */
  public int makeSoon(Handle handle, Collection<String> names) {
    return make(handle, names, String.valueOf(SOON.toMillis()));
  }

  private int make(Handle handle, Collection<String> names, @Nullable String longestWaitMillis) {
    return names.isEmpty()
        ? 0
        : handle
            .createUpdate(make)
            .bindArray("names", String.class, names)
            .bind("wait_ms", longestWaitMillis)
            .execute();
  }

  /** Waits for the resources' locks; returns which of the resources have a row. */
  public Set<String> lock(Handle handle, Collection<String> names) {
    return lock(handle, names, null);
  }

  /**
   * Makes missing rows and waits for the locks of all, for callers that can do nothing without
   * them. Comes before any other lock of the transaction.
   */
  public void lockSurely(Handle handle, Collection<String> names) {
    // MAKE still sees rows that the pruner is about to remove, and LOCK, after waiting for them,
    // finds nothing there. Before such rows are made again, the locks of the others are given back:
    // their names may come later in the order.
    boolean several = names.size() > 1;
    while (true) {
      if (several) {
        handle.savepoint(BEFORE_LOCKS);
      }
      make(handle, names);
      if (lock(handle, names).containsAll(names)) {
        return;
      }
      if (several) {
        handle.rollbackToSavepoint(BEFORE_LOCKS);
      }
    }
  }

  /**
   * Like {@link #lock}, for callers that must not wait long. Throws what {@link
   * dev.holdfast.tenant.SqlErrors#isLockTimeout} recognises when it takes too long; the transaction
   * has failed then.
   */
  public Set<String> lockSoon(Handle handle, Collection<String> names) {
    return lock(handle, names, String.valueOf(SOON.toMillis()));
  }

  /**
   * Skips resources that another transaction, perhaps a frozen one, has locked; returns the names
   * of those it locked.
   */
  public Set<String> lockFree(Handle handle, Collection<String> names) {
    return handle
        .createQuery(lockFree)
        .bindArray("names", String.class, names)
        .mapTo(String.class)
        .collectIntoSet();
  }

  private Set<String> lock(
      Handle handle, Collection<String> names, @Nullable String longestWaitMillis) {
    return names.isEmpty()
        ? Set.of()
        : handle
            .createQuery(lock)
            .bindArray("names", String.class, names)
            .bind("wait_ms", longestWaitMillis)
            .mapTo(String.class)
            .collectIntoSet();
  }

  /** Whether an attempt of the job holds any of these, even one that was not seen to stop. */
  public boolean holdsAnything(Handle handle, UUID jobId, Collection<String> names) {
    return handle
        .createQuery(holdsAnything)
        .bindArray("names", String.class, names)
        .bind("job_id", jobId)
        .mapTo(Boolean.class)
        .one();
  }

  /** Frees what these attempts held, because their work has stopped. */
  public void release(Handle handle, List<Held> held) {
    if (!held.isEmpty()) {
      bind(handle.createUpdate(release), Row.of(held)).execute();
    }
  }

  /**
   * Keeps what these attempts hold, because their work was not seen to stop. It passes on when the
   * lease is over and the watchdog has had the time to kill the work, or as soon as the worker says
   * that it has stopped.
   */
  public void linger(Handle handle, List<Held> held) {
    if (!held.isEmpty()) {
      List<Row> rows = Row.of(held);
      bind(handle.createUpdate(linger), rows)
          .bindArray(
              "expiries",
              OffsetDateTime.class,
              rows.stream().map(row -> row.of.leaseExpiresAt().atOffset(ZoneOffset.UTC)).toList())
          .bind("grace_ms", KILL_GRACE.toMillis())
          .execute();
    }
  }

  /**
   * Passes on what silent workers held, once their grace is over; returns how many jobs were woken.
   */
  public int passOn(Handle handle) {
    List<String> names =
        handle.createQuery(passed).bind("limit", PASSED_ON_AT_ONCE).mapTo(String.class).list();
    if (names.isEmpty()) {
      return 0;
    }
    Set<String> locked = lockFree(handle, names);
    handle.createUpdate(passOn).bindArray("names", String.class, locked).execute();
    return waiting.wake(handle, locked);
  }

  private record Row(String resource, Held of) {

    static List<Row> of(List<Held> held) {
      List<Row> rows = new ArrayList<>();
      held.forEach(each -> each.resources().forEach(name -> rows.add(new Row(name, each))));
      return rows;
    }
  }

  private static Update bind(Update update, List<Row> rows) {
    return update
        .bindArray("resources", String.class, rows.stream().map(Row::resource).toList())
        .bindArray("job_ids", UUID.class, rows.stream().map(row -> row.of.jobId()).toList())
        .bindArray("fences", Long.class, rows.stream().map(row -> row.of.fence()).toList());
  }
}
