package dev.holdfast.queue;

import dev.holdfast.audit.Act;
import dev.holdfast.audit.Audit;
import dev.holdfast.codec.PolicyJson;
import dev.holdfast.job.Limits;
import dev.holdfast.tenant.Db;
import dev.holdfast.tenant.Tenant;
import dev.holdfast.wake.Announcer;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.util.List;
import java.util.Optional;
import java.util.function.UnaryOperator;
import org.jdbi.v3.core.Handle;

/**
 * The queues of one tenant. They need no registration; a queue has a row only once it is
 * configured.
 */
public final class Queues {

  private static final String PUT =
      """
      INSERT INTO {schema}.queue (name, paused, concurrency_limit, defaults)
      VALUES (:name, :paused, :concurrency_limit, :defaults::json)
      ON CONFLICT (name) DO UPDATE
         SET paused = excluded.paused,
             concurrency_limit = excluded.concurrency_limit,
             defaults = excluded.defaults
      """;

  private static final String MAKE =
      """
      INSERT INTO {schema}.queue (name) VALUES (:name) ON CONFLICT (name) DO NOTHING
      """;

  private static final String LOCK =
      """
      SELECT paused, concurrency_limit, defaults FROM {schema}.queue WHERE name = :name FOR UPDATE
      """;

  private static final String GET =
      """
      SELECT paused, concurrency_limit, defaults FROM {schema}.queue WHERE name = :name
      """;

  // Queues that were configured, and queues that have had a job. Jobs are counted lane by lane,
  // each by its index and not past the limit.
  private static final String LIST =
      """
      SELECT known.name, coalesce(queue.paused, false) AS paused, queue.concurrency_limit,
             queue.defaults, waiting.jobs AS queued, leased.jobs AS running
        FROM (SELECT name FROM {schema}.queue UNION SELECT queue FROM {schema}.lane) AS known
        LEFT JOIN {schema}.queue ON queue.name = known.name
       CROSS JOIN LATERAL (
         SELECT least(:most, coalesce(sum(counted.jobs), 0)) AS jobs
           FROM {schema}.lane
          CROSS JOIN LATERAL (
            SELECT count(*) AS jobs
              FROM ((SELECT
                       FROM {schema}.job
                      WHERE job.lane = lane.id AND job.state = 'queued' AND job.waiting_on IS NULL
                      LIMIT :most)
                    UNION ALL
                    (SELECT
                       FROM {schema}.job
                      WHERE job.lane = lane.id AND job.waiting_on IS NOT NULL
                      LIMIT :most)) AS each
          ) AS counted
          WHERE lane.queue = known.name
       ) AS waiting
       CROSS JOIN LATERAL (
         SELECT count(*) AS jobs
           FROM {schema}.job
           JOIN {schema}.lane ON lane.id = job.lane
          WHERE job.worker IS NOT NULL AND lane.queue = known.name
       ) AS leased
       WHERE known.name > :after
       ORDER BY known.name
       LIMIT :limit
      """;

  private final PolicyJson policies = new PolicyJson();
  private final String tenant;
  private final Db db;
  private final Announcer announcer;
  private final String put;
  private final String get;
  private final String list;
  private final Audit audit;

  public Queues(Tenant tenant, Announcer announcer) {
    this.tenant = tenant.name().value();
    this.db = tenant.db();
    this.announcer = announcer;
    this.put = tenant.db().sql(PUT);
    this.get = tenant.db().sql(GET);
    this.list = tenant.db().sql(LIST);
    this.audit = new Audit(tenant);
  }

  /** The queue's settings; the defaults for a queue that was never configured. */
  public QueueSettings get(String name) {
    Limits.name("queue", name);
    return db.withHandle(handle ->
            handle
                .createQuery(get)
                .bind("name", name)
                .map((row, context) -> settings(row))
                .findOne())
        .orElse(QueueSettings.DEFAULTS);
  }

  /**
   * Lists queues in the order of their names.
   *
   * @param after the name after which the list begins; empty for all
   */
  public List<QueueState> list(String after, int limit) {
    Limits.page("limit", limit);
    return db.inTransaction(handle ->
        handle
            .createQuery(list)
            .bind("after", after)
            .bind("limit", limit)
            .bind("most", QueueState.MOST)
            .map((row, context) ->
                new QueueState(
                    row.getString("name"),
                    settings(row),
                    row.getLong("queued"),
                    row.getLong("running")))
            .list());
  }

  private QueueSettings settings(ResultSet row) throws SQLException {
    return new QueueSettings(
        row.getBoolean("paused"),
        Optional.ofNullable(row.getObject("concurrency_limit", Integer.class)),
        policies.stored(row.getString("defaults")).withoutTrace());
  }

  /** Replaces the queue's settings, everywhere from the next claim on. */
  public void put(String name, QueueSettings settings) {
    Limits.name("queue", name);
    db.useHandle(handle -> put(handle, name, settings));
    announcer.announce(tenant); // a queue that was resumed or got a higher limit may have work
  }

  /**
   * Changes the queue's settings under a lock, and writes the audit record.
   *
   * @return the new settings
   */
  public QueueSettings change(String name, UnaryOperator<QueueSettings> change, Act act) {
    Limits.name("queue", name);
    QueueSettings changed =
        db.inTransaction(handle -> {
          handle.createUpdate(db.sql(MAKE)).bind("name", name).execute();
          QueueSettings before =
              handle
                  .createQuery(db.sql(LOCK))
                  .bind("name", name)
                  .map((row, context) -> settings(row))
                  .one();
          QueueSettings after = change.apply(before);
          put(handle, name, after);
          audit.write(handle, act, "put_queue", "queue:" + name, describe(before), describe(after));
          return after;
        });
    announcer.announce(tenant);
    return changed;
  }

  private void put(Handle handle, String name, QueueSettings settings) {
    handle
        .createUpdate(put)
        .bind("name", name)
        .bind("paused", settings.paused())
        .bind("concurrency_limit", settings.concurrencyLimit().orElse(null))
        .bind("defaults", defaultsJson(settings))
        .execute();
  }

  private String describe(QueueSettings settings) {
    return "paused %s, limit %s, defaults %s"
        .formatted(
            settings.paused(),
            settings.concurrencyLimit().map(String::valueOf).orElse("none"),
            defaultsJson(settings));
  }

  private String defaultsJson(QueueSettings settings) {
    return policies.write(settings.defaults());
  }
}
