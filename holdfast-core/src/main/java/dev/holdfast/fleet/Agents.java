package dev.holdfast.fleet;

import dev.holdfast.error.HoldfastException;
import dev.holdfast.job.Limits;
import dev.holdfast.tenant.Columns;
import dev.holdfast.tenant.Db;
import dev.holdfast.tenant.Tenant;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeMap;

/**
 * Agents of one tenant: workers that say a name and renew no lease by its fence. Whatever one of
 * them says is a sign of life. Thread-safe.
 */
public final class Agents {

  private static final int INFO_CHARS = 16_384;

  // Sorted by name, or two nodes that hear of the same agents could wait for each other.
  private static final String BEAT =
      """
      INSERT INTO {schema}.agent (name, seen_at, info)
      SELECT name, {schema}.clock(), info::json
        FROM unnest(:names, :infos) AS heard (name, info)
       ORDER BY name
      ON CONFLICT (name) DO UPDATE
         SET seen_at = excluded.seen_at, info = coalesce(excluded.info, agent.info)
      """;

  private static final String LIST =
      """
      SELECT agent.name, agent.seen_at, agent.info,
             agent.seen_at > {schema}.clock() - {schema}.seconds_of('HOST_HEARTBEAT_TTL', 60)
               AS online,
             (SELECT count(*)
                FROM {schema}.agent_job
                JOIN {schema}.job ON job.id = agent_job.job_id AND job.fence = agent_job.fence
               WHERE agent_job.worker = agent.name AND NOT agent_job.settled
                 AND job.worker = agent.name AND job.state IN ('running', 'stopping')) AS running
        FROM {schema}.agent
       ORDER BY agent.name
      """;

  private static final String ONLINE =
      """
      SELECT agent.name
        FROM {schema}.agent
       WHERE agent.seen_at > {schema}.clock() - {schema}.seconds_of('HOST_HEARTBEAT_TTL', 60)
         AND agent.name IN (SELECT lane.host FROM {schema}.lane WHERE lane.queue = :queue)
      """;

  private static final String PATIENCE =
      """
      SELECT extract(epoch FROM {schema}.agent_lease(false)) * 1000
      """;

  private static final String FORGET =
      """
      DELETE FROM {schema}.agent
       WHERE seen_at < {schema}.clock() - :after_ms * interval '1 millisecond'
         AND NOT EXISTS (SELECT
                           FROM {schema}.agent_job
                          WHERE agent_job.worker = agent.name AND NOT agent_job.settled)
      """;

  /**
   * An agent, as it was last heard of.
   *
   * @param info JSON, what it said about itself
   * @param running how many jobs it has begun and not ended
   */
  public record AgentState(
      String name, Instant seenAt, Optional<String> info, boolean online, long running) {}

  private final Db db;

  public Agents(Tenant tenant) {
    this.db = tenant.db();
  }

  /** They were heard of, now; what they say about themselves replaces what they said before. */
  public void beat(Map<String, Optional<String>> heard) {
    Map<String, Optional<String>> sorted = new TreeMap<>(heard);
    db.useHandle(handle ->
        handle
            .createUpdate(db.sql(BEAT))
            .bindArray("names", String.class, sorted.keySet())
            .bindArray(
                "infos", String.class, sorted.values().stream().map(Columns::orNull).toArray())
            .execute());
  }

  /** What an agent says about itself has an end, too. */
  public static String checkedInfo(String json) {
    if (json.length() > INFO_CHARS) {
      throw HoldfastException.invalid(
          "info", json.length() + " characters", "at most " + INFO_CHARS);
    }
    return Limits.payload("info", json);
  }

  public List<AgentState> list() {
    return db.inTransaction(handle ->
        handle
            .createQuery(db.sql(LIST))
            .map((row, context) ->
                new AgentState(
                    row.getString("name"),
                    Columns.instant(row, "seen_at"),
                    Columns.optionalText(row, "info"),
                    row.getBoolean("online"),
                    row.getLong("running")))
            .list());
  }

  /** Of those that jobs of a queue ask for, the ones that are there. */
  public Set<String> online(String queue) {
    return db.withHandle(handle ->
        handle
            .createQuery(db.sql(ONLINE))
            .bind("queue", queue)
            .mapTo(String.class)
            .collectIntoSet());
  }

  /** How long one may have a job and not say a word about it. */
  public Duration leaseOfSilent() {
    return db.withHandle(
        handle -> Duration.ofMillis(handle.createQuery(db.sql(PATIENCE)).mapTo(Long.class).one()));
  }

  /** Those that were not heard of for so long, and have nothing, are no longer known. */
  public int forget(Duration after) {
    return db.withHandle(
        handle -> handle.createUpdate(db.sql(FORGET)).bind("after_ms", after.toMillis()).execute());
  }
}
