package dev.holdfast.queue;

import dev.holdfast.codec.PolicyJson;
import dev.holdfast.job.Job;
import dev.holdfast.job.Policy;
import dev.holdfast.tenant.Db;
import dev.holdfast.tenant.Portion;
import java.time.Instant;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.UUID;
import java.util.function.ObjIntConsumer;
import org.jdbi.v3.core.Handle;

/** Reads jobs and what belongs to them, live or finished. */
final class JobReader {

  private static final String GET =
      """
      SELECT job_all.*, queue.defaults
        FROM {schema}.job_all
        LEFT JOIN {schema}.queue ON queue.name = job_all.queue
       WHERE job_all.id = :id
      """;

  private static final String ALL =
      """
      SELECT job_all.*, queue.defaults
        FROM {schema}.job_all
        LEFT JOIN {schema}.queue ON queue.name = job_all.queue
       WHERE job_all.id = ANY (:job_ids)
      """;

  // In the order of the given ids; an id that is given twice is returned twice.
  private static final String IN_ORDER =
      """
      SELECT asked.place, job_all.*, queue.defaults
        FROM unnest((SELECT :job_ids)) WITH ORDINALITY AS asked (id, place)
        JOIN {schema}.job_all ON job_all.id = asked.id
        LEFT JOIN {schema}.queue ON queue.name = job_all.queue
       ORDER BY asked.place
      """;

  private static final String POLICY =
      """
      SELECT job_all.policy, queue.defaults
        FROM {schema}.job_all
        LEFT JOIN {schema}.queue ON queue.name = job_all.queue
       WHERE job_all.id = :id
      """;

  // What the job's own row does not show: attempts that ended, and acts of people.
  private static final String TOUCHED =
      """
      SELECT asked.id, greatest(ended.at, acted.at) AS at, ended.at AS attempt_ended
        FROM unnest((SELECT :job_ids)) AS asked (id)
       CROSS JOIN LATERAL (
         SELECT max(finished_at) AS at FROM {schema}.attempt WHERE attempt.job_id = asked.id
       ) AS ended
       CROSS JOIN LATERAL (
         SELECT max(at) AS at FROM {schema}.audit WHERE audit.job_id = asked.id
       ) AS acted
       WHERE ended.at IS NOT NULL OR acted.at IS NOT NULL
      """;

  private static final String LANE =
      """
      SELECT lane.*
        FROM {schema}.lane
       WHERE lane.id = (SELECT lane FROM {schema}.job WHERE id = :id
                        UNION ALL
                        SELECT lane FROM {schema}.job_done WHERE id = :id)
      """;

  private static final String LOCK_LIVE =
      """
      SELECT id FROM {schema}.job WHERE id = :id FOR UPDATE
      """;

  private static final String LOCK_DONE =
      """
      SELECT id FROM {schema}.job_done WHERE id = :id FOR UPDATE
      """;

  private final Db db;
  private final PolicyJson policies = new PolicyJson();
  private final String get;
  private final String policy;
  private final String lane;
  private final String lockLive;
  private final String lockDone;

  JobReader(Db db) {
    this.db = db;
    this.get = db.sql(GET);
    this.policy = db.sql(POLICY);
    this.lane = db.sql(LANE);
    this.lockLive = db.sql(LOCK_LIVE);
    this.lockDone = db.sql(LOCK_DONE);
  }

  /** The job as it is now. */
  Optional<Job> find(UUID id) {
    return db.withHandle(handle -> find(handle, id));
  }

  /** The jobs that exist among these, as they are now. */
  List<Job> all(List<UUID> ids) {
    return db.inTransaction(handle ->
        handle
            .createQuery(db.sql(ALL))
            .bindArray("job_ids", UUID.class, ids)
            .map(JobMapper.JOB)
            .list());
  }

  /** A job and its place in the list of ids. */
  private record Placed(int place, Job job) {}

  /**
   * Passes the jobs that exist among these to the reader, in the order of the list and each with
   * its index there.
   */
  void each(List<UUID> ids, ObjIntConsumer<Job> reader) {
    int from = 0;
    boolean more = !ids.isEmpty();
    while (more) {
      int before = from;
      Portion<Placed> some = portion(ids.subList(from, ids.size()));
      some.rows().forEach(row -> reader.accept(row.job, before + row.place - 1));
      more = some.more();
      from += some.rows().isEmpty() ? 0 : some.rows().getLast().place;
    }
  }

  // One transaction per portion: the reader may be slow, and must not keep a connection meanwhile.
  private Portion<Placed> portion(List<UUID> ids) {
    return db.inTransaction(handle ->
        Portion.of(
            handle.createQuery(db.sql(IN_ORDER)).bindArray("job_ids", UUID.class, ids),
            Integer.MAX_VALUE,
            (row, context) -> new Placed(row.getInt("place"), JobMapper.JOB.map(row, context)),
            placed -> JobMapper.weight(placed.job)));
  }

  /**
   * Reads the job and locks its row, so that no other transaction can change it. Its resources must
   * be locked before.
   */
  Optional<Job> lock(Handle handle, UUID id) {
    // The job may move to the other table, and back, while its row is looked for.
    do {
      if (isThere(handle, lockLive, id) || isThere(handle, lockDone, id)) {
        return find(handle, id);
      }
    } while (find(handle, id).isPresent());
    return Optional.empty();
  }

  private static boolean isThere(Handle handle, String sql, UUID id) {
    return handle.createQuery(sql).bind("id", id).mapTo(UUID.class).findOne().isPresent();
  }

  /** The policy in force: the job's own settings, over its queue's, over the defaults. */
  Policy policy(Handle handle, UUID id) {
    return handle
        .createQuery(policy)
        .bind("id", id)
        .map((row, context) -> policies.resolve(row.getString("defaults"), row.getString("policy")))
        .one();
  }

  Optional<Lane> lane(UUID id) {
    return db.withHandle(handle -> lane(handle, id));
  }

  Optional<Lane> lane(Handle handle, UUID id) {
    return handle.createQuery(lane).bind("id", id).map((row, context) -> Lane.of(row)).findOne();
  }

  Optional<Job> find(Handle handle, UUID id) {
    return handle.createQuery(get).bind("id", id).map(JobMapper.JOB).findOne();
  }

  /** What the jobs' own rows do not show; nothing of a job whose row shows all. */
  Map<UUID, Touched> touched(List<UUID> ids) {
    if (ids.isEmpty()) {
      return Map.of();
    }
    return db.inTransaction(handle ->
        handle
            .createQuery(db.sql(TOUCHED))
            .bindArray("job_ids", UUID.class, ids)
            .reduceRows(
                new HashMap<>(),
                (found, row) -> {
                  Optional<Instant> ended =
                      Optional.ofNullable(row.getColumn("attempt_ended", Instant.class));
                  found.put(
                      row.getColumn("id", UUID.class),
                      new Touched(row.getColumn("at", Instant.class), ended));
                  return found;
                }));
  }
}
