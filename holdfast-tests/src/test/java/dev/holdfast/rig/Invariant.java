package dev.holdfast.rig;

import java.util.Arrays;
import java.util.stream.Collectors;

/**
 * What must never be found in a tenant's tables, each as a query that answers what breaks it. The
 * names are those of the invariants they belong to.
 */
public enum Invariant {
  I5_ONE_PLACE(
      """
      SELECT job.id::text || ' is both live and finished'
        FROM {schema}.job
        JOIN {schema}.job_done ON job_done.id = job.id
      """),
  I6_CAPACITY(
      """
      SELECT resource.name || ' is held by ' || held.live || ' of ' || resource.capacity
        FROM {schema}.resource
       CROSS JOIN LATERAL (
         SELECT count(*) AS live, max(since) AS newest
           FROM {schema}.hold
          WHERE hold.resource = resource.name
            AND (hold.passes_at IS NULL OR hold.passes_at > {schema}.clock())
       ) AS held
       WHERE held.live > resource.capacity
         AND held.newest > resource.capacity_at -- lowering a capacity drains
      """),
  I6_ALL_OR_NOTHING(
      """
      SELECT job.id::text || ' runs without ' || needed.name
        FROM {schema}.job
       CROSS JOIN LATERAL unnest(job.resources) AS needed (name)
       WHERE job.worker IS NOT NULL
         AND NOT EXISTS (SELECT FROM {schema}.hold
                          WHERE hold.resource = needed.name AND hold.job_id = job.id
                            AND hold.fence = job.fence AND hold.passes_at IS NULL)
      """),
  I6_NO_ORPHANS(
      """
      SELECT hold.job_id::text || ' holds ' || hold.resource || ' under ' || hold.fence
        FROM {schema}.hold
       WHERE hold.passes_at IS NULL
         AND NOT EXISTS (SELECT FROM {schema}.job
                          WHERE job.id = hold.job_id AND job.fence = hold.fence
                            AND job.worker IS NOT NULL AND hold.resource = ANY (job.resources))
      """),
  I7_BLOCK(
      """
      SELECT block.job_id::text || ' blocks ' || block.resource
        FROM {schema}.block
       WHERE NOT EXISTS (SELECT FROM {schema}.job
                          WHERE job.id = block.job_id AND job.state = 'paused'
                            AND 'target:' || job.target = block.resource)
         AND NOT EXISTS (SELECT FROM {schema}.job_done AS done
                          WHERE done.id = block.job_id AND done.state = 'failed'
                            AND 'target:' || done.target = block.resource)
      """),
  I8_RESERVATION(
      """
      SELECT reservation.job_id::text || ' reserves ' || reservation.resource
        FROM {schema}.reservation
       WHERE NOT EXISTS (SELECT FROM {schema}.job
                          WHERE job.id = reservation.job_id AND job.state = 'queued'
                            AND reservation.resource = ANY (job.resources))
      """),
  // Whoever waits for a resource with room has somebody of its own lane before it who is to try.
  I14_WAKE_UP(
      """
      SELECT job.id::text || ' waits for ' || job.waiting_on || ', which has room'
        FROM {schema}.job
        LEFT JOIN {schema}.resource ON resource.name = job.waiting_on
       WHERE job.waiting_on NOT LIKE 'target:%'
         AND (SELECT count(*) FROM {schema}.hold WHERE hold.resource = job.waiting_on)
             + (SELECT count(*)
                  FROM {schema}.reservation
                 WHERE reservation.resource = job.waiting_on AND reservation.got)
             < coalesce(resource.capacity, 1)
         AND NOT EXISTS (SELECT FROM {schema}.block WHERE block.resource = job.waiting_on)
         AND NOT EXISTS (SELECT FROM {schema}.job AS other
                          WHERE other.lane = job.lane AND other.state = 'queued'
                            AND other.waiting_on IS NULL AND other.run_at <= {schema}.clock()
                            AND job.waiting_on = ANY (other.resources))
      """),
  I14_WAKE_UP_OF_THE_FIRST(
      """
      SELECT head.id::text || ' is first on ' || head.waiting_on || ', which has room'
        FROM (SELECT DISTINCT ON (job.target) job.id, job.waiting_on, job.target
                FROM {schema}.job
                JOIN {schema}.lane ON lane.id = job.lane
               WHERE job.target IS NOT NULL AND job.state = 'queued'
                 AND job.run_at <= {schema}.clock()
               ORDER BY job.target, lane.priority, job.run_at, job.seq) AS head
        LEFT JOIN {schema}.resource ON resource.name = head.waiting_on
       WHERE head.waiting_on = 'target:' || head.target
         AND (SELECT count(*) FROM {schema}.hold WHERE hold.resource = head.waiting_on)
             + (SELECT count(*)
                  FROM {schema}.reservation
                 WHERE reservation.resource = head.waiting_on AND reservation.got)
             < coalesce(resource.capacity, 1)
         AND NOT EXISTS (SELECT FROM {schema}.block WHERE block.resource = head.waiting_on)
      """),
  I21_PARKED(
      """
      SELECT job.id::text || ' is ' || job.state || ' and parked on ' || job.waiting_on
        FROM {schema}.job
       WHERE job.waiting_on IS NOT NULL AND job.state <> 'queued'
      """);

  private final String violations;

  Invariant(String violations) {
    this.violations = violations;
  }

  /** One query for all of them: the invariant's name and what breaks it. */
  public static String allViolations() {
    return Arrays.stream(values())
        .map(each ->
            "SELECT '%s' AS invariant, broken.how FROM (%s) AS broken (how)"
                .formatted(each.name(), each.violations))
        .collect(Collectors.joining("\nUNION ALL\n"));
  }
}
