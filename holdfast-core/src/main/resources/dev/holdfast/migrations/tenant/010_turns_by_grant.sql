-- I8: Nobody runs on a target who was granted it while the first in line was due and waiting. (By the
-- grant and not by the start, which a worker that acknowledges says later, when somebody more urgent
-- may be waiting. Waiting is parked, since when it has been queued without a break. When an enqueue was
-- committed is not known.)
CREATE OR REPLACE VIEW {schema}.invariant_i08 (id, job_id, resource, detail) AS
  SELECT 'I8', ran.id, hold.resource, format('started before job %s, whose turn it was', first.id)
    FROM {schema}.hold
   CROSS JOIN LATERAL (
     SELECT job.id, job.lane, job.run_at, job.seq
       FROM {schema}.job
      WHERE job.id = hold.job_id AND job.fence = hold.fence
     OFFSET 0
   ) AS ran
   CROSS JOIN LATERAL {schema}.first_on_target(hold.resource, 1) AS head
   CROSS JOIN LATERAL (
     SELECT job.id, job.lane, job.run_at, job.seq
       FROM {schema}.job
      WHERE job.id = head.id
        AND job.run_at <= hold.since
        AND job.waiting_since < hold.since
     OFFSET 0
   ) AS first
    JOIN {schema}.lane AS ran_lane ON ran_lane.id = ran.lane
    JOIN {schema}.lane AS first_lane ON first_lane.id = first.lane
   WHERE hold.resource LIKE 'target:%'
     AND hold.passes_at IS NULL
     AND (first_lane.priority, first.run_at, first.seq) < (ran_lane.priority, ran.run_at, ran.seq);
