package dev.holdfast.invariant;

import dev.holdfast.fleet.IdleWorker;
import dev.holdfast.fleet.Workers;
import dev.holdfast.tenant.Columns;
import dev.holdfast.tenant.Db;
import dev.holdfast.tenant.Tenant;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.UUID;
import java.util.function.Function;
import java.util.stream.Collectors;

/**
 * The part of I14 that no view can see: whether a job that could run waited for longer than the
 * poll interval and 2 s although a worker that serves it had permits left over. Nobody knows when a
 * row was committed, so this takes two looks: only a job that was there at an earlier look, in the
 * same version of its row, could certainly run since then. Workers say when they were idle.
 * Thread-safe: {@link #look} takes the monitor.
 */
public final class Overlooked {

  private static final Duration GRACE = Duration.ofSeconds(2);

  // The first due job of each lane whose jobs need nothing but a worker. A job behind it that is
  // overlooked is first sooner or later. The version changes whenever the job or its queue does.
  private static final String FIRST_OF_LANES =
      """
      SELECT first.id, concat_ws('/', first.id, first.version, queue.xmin) AS version,
             clock_timestamp() AS seen_at, lane.queue, lane.kind, lane.host, lane.labels
        FROM {schema}.lane
        LEFT JOIN {schema}.queue ON queue.name = lane.queue
       CROSS JOIN LATERAL (
         SELECT job.id, job.xmin AS version
           FROM {schema}.job
          WHERE job.lane = lane.id
            AND job.state = 'queued'
            AND job.waiting_on IS NULL
            AND job.run_at <= {schema}.clock()
          ORDER BY job.run_at, job.seq
          LIMIT 1
       ) AS first
       WHERE NOT lane.guarded
         AND NOT coalesce(queue.paused, false)
         AND queue.concurrency_limit IS NULL
      """;

  private record Waiting(
      UUID jobId,
      String version,
      Instant seenAt,
      String queue,
      String kind,
      String host,
      List<String> labels) {

    // A host that is only preferred counts as required: others may take the job later, and when
    // depends on which hosts are online.
    boolean isServedBy(IdleWorker worker) {
      return worker.queues().contains(queue)
          && worker.kinds().map(kinds -> kinds.contains(kind)).orElse(true)
          && worker.labels().containsAll(labels)
          && (host.isEmpty() || host.equals(worker.host()));
    }

    Duration waitedFor(IdleWorker worker) {
      Instant since = seenAt.isAfter(worker.since()) ? seenAt : worker.since();
      return Duration.between(since, worker.until());
    }

    boolean isOverlookedBy(IdleWorker worker) {
      Duration longest = worker.pollInterval().plus(GRACE);
      return isServedBy(worker) && waitedFor(worker).compareTo(longest) > 0;
    }
  }

  private final Tenant tenant;
  private final Db db;
  private final Workers workers;
  private final String firstOfLanes;
  private Map<String, Waiting> seen = Map.of();

  public Overlooked(Tenant tenant, Workers workers) {
    this.tenant = tenant;
    this.db = tenant.db();
    this.workers = workers;
    this.firstOfLanes = db.sql(FIRST_OF_LANES);
  }

  /** The jobs that are overlooked, as far as this look and the ones before it can tell. */
  public synchronized List<Violation> look() {
    List<IdleWorker> idle = workers.idle(tenant.name()); // first: the jobs are there after that
    Map<String, Waiting> before = seen;
    seen =
        db
            .withHandle(handle ->
                handle.createQuery(firstOfLanes).map((row, context) -> waiting(row)).list())
            .stream()
            .map(job -> before.getOrDefault(job.version, job))
            .collect(Collectors.toMap(Waiting::version, Function.identity()));
    return seen.values().stream()
        .filter(job -> before.containsKey(job.version))
        .flatMap(job -> violation(job, idle).stream())
        .toList();
  }

  private static Optional<Violation> violation(Waiting job, List<IdleWorker> idle) {
    return idle.stream()
        .filter(job::isOverlookedBy)
        .findFirst()
        .map(worker ->
            new Violation(
                "I14",
                Optional.of(job.jobId),
                Optional.empty(),
                "could run, and waited for %d s while worker %s had permits left over"
                    .formatted(job.waitedFor(worker).toSeconds(), worker.name())));
  }

  private static Waiting waiting(ResultSet row) throws SQLException {
    return new Waiting(
        row.getObject("id", UUID.class),
        row.getString("version"),
        Columns.instant(row, "seen_at"),
        row.getString("queue"),
        row.getString("kind"),
        row.getString("host"),
        Columns.texts(row, "labels"));
  }
}
