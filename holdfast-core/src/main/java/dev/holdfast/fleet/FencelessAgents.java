package dev.holdfast.fleet;

import dev.holdfast.error.HoldfastException;
import dev.holdfast.job.Limits;
import dev.holdfast.tenant.Columns;
import dev.holdfast.tenant.Db;
import dev.holdfast.tenant.Portion;
import dev.holdfast.tenant.Tenant;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;

/**
 * The agents of one tenant: workers that identify themselves by a name and do not renew leases by
 * fence. Every message of an agent counts as a sign of life. Thread-safe.
 *
 * <p>Not {@code Agent} of module holdfast-agent, which is an ordinary worker over HTTP: these speak
 * the dialect of {@code /api/agent}, as that module's {@code SimulationAgent} does. It knows no
 * fence, so every report renews the lease.
 */
public final class FencelessAgents {

  private static final int INFO_CHARS = 16_384;
  private static final int MOST_LISTED = 1_000;

  // Sorted by name, or two nodes that hear from the same agents could wait for each other.
  private static final String BEAT =
      """
      INSERT INTO {schema}.agent (name, seen_at, info)
      SELECT name, {schema}.clock(), info::json
        FROM unnest(:names, :infos) AS heard (name, info)
       ORDER BY name
      ON CONFLICT (name) DO UPDATE
         SET seen_at = excluded.seen_at, info = coalesce(excluded.info, agent.info)
      """;

  // The jobs of those that are listed are counted, and of no others.
  private static final String LIST =
      """
      WITH latest AS MATERIALIZED (
        SELECT name, seen_at, info FROM {schema}.agent ORDER BY seen_at DESC, name LIMIT :limit
      )
      SELECT agent.name, agent.seen_at, agent.info,
             agent.seen_at > {schema}.clock() - {schema}.seconds_of('HOST_HEARTBEAT_TTL', 60)
               AS online,
             (SELECT count(*)
                FROM {schema}.agent_job
                JOIN {schema}.job ON job.id = agent_job.job_id AND job.fence = agent_job.fence
               WHERE agent_job.worker = agent.name AND NOT agent_job.settled
                 AND job.worker = agent.name AND job.state IN ('running', 'stopping')) AS running
        FROM latest AS agent
       ORDER BY agent.seen_at DESC, agent.name
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
   * An agent, as it was last heard from.
   *
   * @param info what it said about itself, as JSON
   * @param online whether it was heard from lately
   * @param running how many jobs it has begun and not ended
   */
  public record AgentState(
      String name, Instant seenAt, Optional<String> info, boolean online, long running) {}

  private final Db db;

  public FencelessAgents(Tenant tenant) {
    this.db = tenant.db();
  }

  /**
   * Records that these agents, by name, were heard from now. What an agent says about itself
   * replaces what it said before.
   */
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

  /** Checks the length of what an agent says about itself. */
  public static String checkedInfo(String json) {
    if (json.length() > INFO_CHARS) {
      throw HoldfastException.invalid(
          "info", json.length() + " characters", "at most " + INFO_CHARS);
    }
    return Limits.payload("info", json);
  }

  /**
   * The agents that were heard from last, latest first: a thousand of them, or as many as fit into
   * memory.
   */
  public List<AgentState> list() {
    return db.inTransaction(handle ->
        Portion.of(
                handle.createQuery(db.sql(LIST)).bind("limit", MOST_LISTED),
                MOST_LISTED,
                (row, context) ->
                    new AgentState(
                        row.getString("name"),
                        Columns.instant(row, "seen_at"),
                        Columns.optionalText(row, "info"),
                        row.getBoolean("online"),
                        row.getLong("running")),
                agent -> agent.name().length() + agent.info().map(String::length).orElse(0))
            .rows());
  }

  /** Forgets agents that were not heard from for so long and have no jobs; returns how many. */
  public int forget(Duration after) {
    return db.withHandle(
        handle -> handle.createUpdate(db.sql(FORGET)).bind("after_ms", after.toMillis()).execute());
  }
}
