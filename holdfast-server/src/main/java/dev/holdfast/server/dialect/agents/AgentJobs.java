package dev.holdfast.server.dialect.agents;

import dev.holdfast.job.JobState;
import dev.holdfast.job.Placement;
import dev.holdfast.server.dialect.agents.AgentJob.Shown;
import dev.holdfast.server.dialect.agents.AgentJob.Words;
import dev.holdfast.tenant.Columns;
import dev.holdfast.tenant.Db;
import dev.holdfast.tenant.Portion;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.time.Duration;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.UUID;
import java.util.function.Consumer;
import java.util.function.Function;
import org.jdbi.v3.core.Handle;
import org.jdbi.v3.core.statement.Query;

/** The agents' jobs of one tenant, read whole. Thread-safe. */
final class AgentJobs {

  // One statement, and so one moment: a job that moves between the tables is found once.
  private static final String FOUND =
      """
      SELECT found.id, found.state, found.fence, found.worker, found.attempt_outcome, found.args,
             found.error_message, lane.host, lane.host_required,
             agent_job.worker AS word_worker, agent_job.fence AS word_fence, agent_job.said,
             agent_job.container_id, agent_job.container_name, agent_job.exit_code,
             agent_job.error, agent_job.details, agent_job.revision, agent_job.shown,
             agent_job.shown_revision, agent_job.shown_at, agent_job.shown_info,
             agent_job.queue_file\
      """;

  private static final String FIND =
      """
      {found}
        FROM (SELECT id, lane, state, fence, worker, NULL AS attempt_outcome, args, error_message
                FROM {schema}.job
               WHERE id = :id
              UNION ALL
              SELECT id, lane, state, fence, worker, attempt_outcome, args, error_message
                FROM {schema}.job_done
               WHERE id = :id) AS found
        JOIN {schema}.lane ON lane.id = found.lane
        LEFT JOIN {schema}.agent_job ON agent_job.job_id = found.id
       WHERE lane.queue = :queue AND lane.kind = :kind
      """
          .replace("{found}", FOUND);

  private static final String NEWEST =
      """
      SELECT found.id
        FROM {schema}.agent_job
       CROSS JOIN LATERAL (
         SELECT id, seq, created_at FROM {schema}.job WHERE job.id = agent_job.job_id
         UNION ALL
         SELECT id, seq, created_at FROM {schema}.job_done WHERE job_done.id = agent_job.job_id
       ) AS found
       ORDER BY found.created_at DESC, found.seq DESC
       LIMIT :limit
      """;

  // In the order in which they are named.
  private static final String NAMED =
      """
      {found}, asked.place
        FROM unnest((SELECT :job_ids)) WITH ORDINALITY AS asked (id, place)
       CROSS JOIN LATERAL (
         SELECT id, lane, state, fence, worker, NULL AS attempt_outcome, args, error_message
           FROM {schema}.job
          WHERE job.id = asked.id
         UNION ALL
         SELECT id, lane, state, fence, worker, attempt_outcome, args, error_message
           FROM {schema}.job_done
          WHERE job_done.id = asked.id
       ) AS found
        JOIN {schema}.lane ON lane.id = found.lane
        JOIN {schema}.agent_job ON agent_job.job_id = found.id
       ORDER BY asked.place
      """
          .replace("{found}", FOUND);

  private static final String QUEUED =
      """
      SELECT job.id, lane.host, lane.host_required
        FROM {schema}.lane
       CROSS JOIN LATERAL (
         SELECT id, run_at, seq
           FROM {schema}.job
          WHERE job.lane = lane.id AND job.state = 'queued' AND job.waiting_on IS NULL
          ORDER BY job.run_at, job.seq
          LIMIT :limit
       ) AS job
       WHERE lane.queue = :queue AND lane.kind = :kind
       ORDER BY lane.priority, job.run_at, job.seq
       LIMIT :limit
      """;

  // Which hosts something waits for now, whether they are there, and how long what they are given
  // may stay without a word.
  private static final String OFFERS =
      """
      SELECT lane.host, bool_or(NOT lane.host_required) AS open,
             bool_or(agent.seen_at > {schema}.clock()
                       - {schema}.seconds_of('HOST_HEARTBEAT_TTL', 60)) AS online,
             extract(epoch FROM {schema}.agent_lease(false)) * 1000 AS lease_ms
        FROM {schema}.lane
       CROSS JOIN LATERAL (
         SELECT id
           FROM {schema}.job
          WHERE job.lane = lane.id AND job.state = 'queued' AND job.waiting_on IS NULL
            AND job.run_at <= {schema}.clock()
          ORDER BY job.run_at, job.seq
          LIMIT 1
       ) AS first
        LEFT JOIN {schema}.agent ON agent.name = lane.host
       WHERE lane.queue = :queue AND lane.kind = :kind
       GROUP BY lane.host
      """;

  // Looks for the name in the text: PostgreSQL may look at the jobs of all queues, and cannot read
  // args as JSON where they have an escaped NUL.
  private static final String WANTS_CONFIG =
      """
      SELECT EXISTS (
        SELECT
          FROM {schema}.job
          JOIN {schema}.lane ON lane.id = job.lane
         WHERE lane.queue = :queue AND lane.kind = :kind
           AND strpos(job.args::text, :name) > 0)
      """;

  private static final String RESAY =
      """
      UPDATE {schema}.agent_job SET said = :said, revision = revision + 1 WHERE job_id = :id
      """;

  /** One that waits for its turn. */
  record Entry(UUID id, String host, boolean hostRequired) {}

  /**
   * What waits to be given away.
   *
   * @param hosts for whom something waits, or {@code ""} for anybody
   * @param online those of them that are there
   * @param open something waits that more than one may have
   */
  record Offers(Set<String> hosts, Set<String> online, boolean open, Duration lease) {}

  private final Db db;

  AgentJobs(Db db) {
    this.db = db;
  }

  Db db() {
    return db;
  }

  Optional<AgentJob> find(UUID id) {
    return db.withHandle(handle -> find(handle, id));
  }

  Optional<AgentJob> find(Handle handle, UUID id) {
    return of(handle.createQuery(db.sql(FIND)))
        .bind("id", id)
        .map((row, context) -> job(row))
        .findOne();
  }

  /** Newest first. */
  List<UUID> newest(Handle handle, int limit) {
    return handle.createQuery(db.sql(NEWEST)).bind("limit", limit).mapTo(UUID.class).list();
  }

  /** One of many that were named. */
  private record Placed(int place, AgentJob job, int bytes) {}

  /**
   * Those of them that there are, in their order. Never more of them are in memory than fit there,
   * and no connection is kept while they are looked at: whoever reads may be slow.
   */
  void each(List<UUID> ids, Consumer<AgentJob> reader) {
    each(ids, reader, asked -> db.inTransaction(handle -> named(handle, asked)));
  }

  /** The same in a transaction that goes on. */
  void each(Handle handle, List<UUID> ids, Consumer<AgentJob> reader) {
    each(ids, reader, asked -> named(handle, asked));
  }

  private static void each(
      List<UUID> ids, Consumer<AgentJob> reader, Function<List<UUID>, Portion<Placed>> named) {
    List<UUID> left = ids;
    while (!left.isEmpty()) {
      Portion<Placed> some = named.apply(left);
      some.rows().forEach(row -> reader.accept(row.job));
      left = some.more() ? left.subList(some.rows().getLast().place, left.size()) : List.of();
    }
  }

  private Portion<Placed> named(Handle handle, List<UUID> ids) {
    return Portion.of(
        handle.createQuery(db.sql(NAMED)).bindArray("job_ids", UUID.class, ids),
        Integer.MAX_VALUE,
        (row, context) -> {
          String details = Optional.ofNullable(row.getString("details")).orElse("");
          return new Placed(
              row.getInt("place"), job(row), row.getString("args").length() + details.length());
        },
        Placed::bytes);
  }

  /** Whether a job that is not over is to be run with it. */
  boolean isConfigWanted(Handle handle, ConfigPath config) {
    return of(handle.createQuery(db.sql(WANTS_CONFIG)))
        .bind("name", config.belowConfigs())
        .mapTo(Boolean.class)
        .one();
  }

  /** In the order in which they will be given away. */
  List<Entry> queued(int limit) {
    return db.inTransaction(handle ->
        of(handle.createQuery(db.sql(QUEUED)))
            .bind("limit", limit)
            .map((row, context) ->
                new Entry(
                    row.getObject("id", UUID.class),
                    row.getString("host"),
                    row.getBoolean("host_required")))
            .list());
  }

  Optional<Offers> offers() {
    Set<String> hosts = new HashSet<>();
    Set<String> online = new HashSet<>();
    boolean[] open = {false};
    long[] leaseMillis = {0};
    db.useTransaction(handle ->
        of(handle.createQuery(db.sql(OFFERS)))
            .map((row, context) -> {
              String host = row.getString("host");
              if (row.getBoolean("online")) {
                online.add(host);
              }
              open[0] |= row.getBoolean("open");
              leaseMillis[0] = row.getLong("lease_ms");
              return hosts.add(host);
            })
            .list());
    return hosts.isEmpty()
        ? Optional.empty()
        : Optional.of(new Offers(hosts, online, open[0], Duration.ofMillis(leaseMillis[0])));
  }

  private static Query of(Query query) {
    return query.bind("queue", Simulation.QUEUE).bind("kind", Simulation.KIND);
  }

  /** Somebody's word in place of the agent's. */
  void resay(UUID id, AgentStatus said) {
    db.useHandle(handle ->
        handle.createUpdate(db.sql(RESAY)).bind("id", id).bind("said", said.word()).execute());
  }

  private static AgentJob job(ResultSet row) throws SQLException {
    String host = row.getString("host");
    return new AgentJob(
        row.getObject("id", UUID.class),
        JobState.of(row.getString("state")),
        row.getLong("fence"),
        Columns.optionalText(row, "worker"),
        Columns.optionalText(row, "attempt_outcome"),
        Simulation.read(row.getString("args")),
        Columns.optionalText(row, "error_message"),
        new Placement(
            host.isEmpty() ? Optional.empty() : Optional.of(host),
            row.getBoolean("host_required"),
            Map.of()),
        new Words(
            Columns.optionalText(row, "word_worker"),
            row.getLong("word_fence"),
            Columns.optionalText(row, "said"),
            Columns.optionalText(row, "container_id"),
            Columns.optionalText(row, "container_name"),
            Optional.ofNullable(row.getObject("exit_code", Integer.class)),
            Columns.optionalText(row, "error"),
            Columns.optionalText(row, "details"),
            row.getLong("revision")),
        new Shown(
            Columns.optionalText(row, "shown"),
            row.getLong("shown_revision"),
            Columns.optionalInstant(row, "shown_at"),
            Columns.optionalText(row, "shown_info"),
            Columns.optionalText(row, "queue_file")));
  }
}
