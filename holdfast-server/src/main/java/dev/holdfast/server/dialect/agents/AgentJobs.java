package dev.holdfast.server.dialect.agents;

import dev.holdfast.job.JobState;
import dev.holdfast.job.Placement;
import dev.holdfast.server.dialect.agents.AgentJob.Shown;
import dev.holdfast.server.dialect.agents.AgentJob.Words;
import dev.holdfast.tenant.Columns;
import dev.holdfast.tenant.Db;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.time.Duration;
import java.time.Instant;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.UUID;
import org.jdbi.v3.core.Handle;
import org.jdbi.v3.core.statement.Query;

/** The agents' jobs of one tenant, read whole, and where their files stand. Thread-safe. */
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

  private static final String ALL =
      """
      {found}
        FROM {schema}.agent_job
       CROSS JOIN LATERAL (
         SELECT id, seq, created_at, lane, state, fence, worker, NULL AS attempt_outcome, args,
                error_message
           FROM {schema}.job
          WHERE job.id = agent_job.job_id
         UNION ALL
         SELECT id, seq, created_at, lane, state, fence, worker, attempt_outcome, args,
                error_message
           FROM {schema}.job_done
          WHERE job_done.id = agent_job.job_id
       ) AS found
        JOIN {schema}.lane ON lane.id = found.lane
       ORDER BY found.created_at DESC, found.seq DESC
       LIMIT :limit
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

  private static final String MAKE =
      """
      INSERT INTO {schema}.agent_job (job_id) VALUES (:id) ON CONFLICT DO NOTHING
      """;

  private static final String LOCK =
      """
      SELECT job_id FROM {schema}.agent_job WHERE job_id = :id FOR UPDATE
      """;

  private static final String SHOW =
      """
      UPDATE {schema}.agent_job
         SET shown = :shown, shown_revision = :revision, shown_info = :info,
             queue_file = :queue_file, settled = :settled,
             shown_at = CASE WHEN :again THEN shown_at ELSE {schema}.clock() END
       WHERE job_id = :id
      RETURNING shown_at
      """;

  // What others did: workers that know more than these words, people, the reaper. Those whose end
  // is
  // shown are not walked over: what moved one of them is in the record, or it waits again.
  private static final String UNSHOWN =
      """
      SELECT agent_job.job_id
        FROM {schema}.agent_job
        LEFT JOIN LATERAL (
          SELECT state, fence FROM {schema}.job WHERE job.id = agent_job.job_id
          UNION ALL
          SELECT state, fence FROM {schema}.job_done WHERE job_done.id = agent_job.job_id
        ) AS found ON true
       WHERE NOT agent_job.settled
         AND (agent_job.shown IS DISTINCT FROM found.state || ':' || found.fence
              OR agent_job.shown_revision IS DISTINCT FROM agent_job.revision)
      UNION
      SELECT job.id
        FROM {schema}.lane
        JOIN {schema}.job
          ON job.lane = lane.id AND job.state = 'queued' AND job.waiting_on IS NULL
        LEFT JOIN {schema}.agent_job ON agent_job.job_id = job.id
       WHERE lane.queue = :queue AND lane.kind = :kind
         AND coalesce(agent_job.settled, true)
      UNION
      SELECT agent_job.job_id
        FROM (SELECT DISTINCT job_id
                FROM (SELECT job_id FROM {schema}.audit ORDER BY id DESC LIMIT 500) AS latest
               WHERE job_id IS NOT NULL) AS acted
        JOIN {schema}.agent_job ON agent_job.job_id = acted.job_id
        LEFT JOIN LATERAL (
          SELECT state, fence FROM {schema}.job WHERE job.id = agent_job.job_id
          UNION ALL
          SELECT state, fence FROM {schema}.job_done WHERE job_done.id = agent_job.job_id
        ) AS found ON true
       WHERE agent_job.settled
         AND agent_job.shown IS DISTINCT FROM found.state || ':' || found.fence
      UNION
      SELECT job_id FROM {schema}.agent_job WHERE removing
      """;

  // Of jobs that are no longer remembered, though nobody asked for their files to go.
  private static final String FORGOTTEN =
      """
      SELECT agent_job.job_id
        FROM {schema}.agent_job
        LEFT JOIN LATERAL (
          SELECT id FROM {schema}.job WHERE job.id = agent_job.job_id
          UNION ALL
          SELECT id FROM {schema}.job_done WHERE job_done.id = agent_job.job_id
        ) AS found ON true
       WHERE agent_job.settled AND found.id IS NULL
       LIMIT 1000
      """;

  private static final String KNOWN =
      """
      SELECT job_id FROM {schema}.agent_job
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

  private static final String RESAY =
      """
      UPDATE {schema}.agent_job SET said = :said, revision = revision + 1 WHERE job_id = :id
      """;

  private static final String REMOVE =
      """
      UPDATE {schema}.agent_job SET removing = true WHERE job_id = :id
      """;

  private static final String FORGET =
      """
      DELETE FROM {schema}.agent_job WHERE job_id = :id
      """;

  private static final String LEFT =
      """
      SELECT removing, queue_file FROM {schema}.agent_job WHERE job_id = :id
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
  List<AgentJob> all(Handle handle, int limit) {
    return handle
        .createQuery(db.sql(ALL))
        .bind("limit", limit)
        .map((row, context) -> job(row))
        .list();
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

  void make(Handle handle, UUID id) {
    handle.createUpdate(db.sql(MAKE)).bind("id", id).execute();
  }

  /** From now on nobody else writes its files. */
  void lockOrMake(Handle handle, UUID id) {
    while (!lock(handle, id)) {
      make(handle, id);
    }
  }

  /** The same; false when nothing was ever written of it. */
  boolean lock(Handle handle, UUID id) {
    return handle.createQuery(db.sql(LOCK)).bind("id", id).mapTo(UUID.class).findOne().isPresent();
  }

  /** Its files show it as it is; answers since when. */
  Instant show(Handle handle, AgentJob job, String info, Optional<String> queueFile) {
    return handle
        .createQuery(db.sql(SHOW))
        .bind("id", job.id())
        .bind("shown", job.key())
        .bind("revision", job.words().revision())
        .bind("info", info)
        .bind("queue_file", Columns.orNull(queueFile))
        .bind("settled", job.state().isFinished())
        .bind("again", job.isShown() && job.shown().at().isPresent())
        .map((row, context) -> Columns.instant(row, "shown_at"))
        .one();
  }

  /** Those whose files do not show what they are. */
  List<UUID> unshown() {
    return db.inTransaction(
        handle -> of(handle.createQuery(db.sql(UNSHOWN))).mapTo(UUID.class).list());
  }

  /** Those of which there is nothing left but this. */
  List<UUID> forgotten() {
    return db.inTransaction(
        handle -> handle.createQuery(db.sql(FORGOTTEN)).mapTo(UUID.class).list());
  }

  List<UUID> known() {
    return db.withHandle(handle -> handle.createQuery(db.sql(KNOWN)).mapTo(UUID.class).list());
  }

  /** Somebody's word in place of the agent's. */
  void resay(UUID id, AgentStatus said) {
    db.useHandle(handle ->
        handle.createUpdate(db.sql(RESAY)).bind("id", id).bind("said", said.word()).execute());
  }

  /** When the job is gone, so are its files to be. */
  void remove(UUID id) {
    db.useHandle(handle -> handle.createUpdate(db.sql(REMOVE)).bind("id", id).execute());
  }

  /**
   * What is known of a job that is no longer there.
   *
   * @param removing what it left is to go, too
   */
  record Left(boolean removing, Optional<String> queueFile) {}

  Left left(Handle handle, UUID id) {
    return handle
        .createQuery(db.sql(LEFT))
        .bind("id", id)
        .map((row, context) ->
            new Left(row.getBoolean("removing"), Columns.optionalText(row, "queue_file")))
        .one();
  }

  void forget(Handle handle, UUID id) {
    handle.createUpdate(db.sql(FORGET)).bind("id", id).execute();
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
