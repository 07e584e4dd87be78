-- The invariants of what jobs hold, block and wait for; as in 002_invariants, and by the same rules.

-- What people did to a resource: it excuses what would else be a violation.
CREATE INDEX audit_resource ON {schema}.audit (resource, id) WHERE resource IS NOT NULL;

-- I6: All or nothing: who runs holds all it needs, nobody else holds anything but what nobody saw
-- stop, and nobody was let in where the capacity was used up. (A fence is drawn under the locks of all
-- that it is for, so fences tell who came when. Less capacity drains.)
CREATE VIEW {schema}.invariant_i06 (id, job_id, resource, detail) AS
  SELECT 'I6', late.job_id, late.resource,
         format('was let in as holder number %s where the capacity is %s', crowd.holders,
                resource.capacity)
    FROM (SELECT hold.resource, count(*) AS holds
            FROM {schema}.hold
           GROUP BY hold.resource) AS held
   CROSS JOIN LATERAL (
     SELECT resource.capacity, resource.capacity_at
       FROM {schema}.resource
      WHERE resource.name = held.resource AND resource.capacity < held.holds
     OFFSET 0
   ) AS resource
    JOIN {schema}.hold AS late ON late.resource = held.resource
   CROSS JOIN LATERAL (
     SELECT count(*) AS holders
       FROM {schema}.hold AS other
      WHERE other.resource = late.resource
        AND other.fence <= late.fence
        AND (other.passes_at IS NULL OR other.passes_at > late.since)
   ) AS crowd
   WHERE crowd.holders > resource.capacity AND late.since > resource.capacity_at
  UNION ALL
  SELECT 'I6', job.id, needed.resource,
         format('is %s under fence %s and does not hold it', job.state, job.fence)
    FROM {schema}.job
   CROSS JOIN LATERAL unnest(job.resources) AS needed (resource)
   WHERE job.worker IS NOT NULL
     AND (SELECT count(*)
            FROM {schema}.hold
           WHERE hold.resource = needed.resource
             AND hold.job_id = job.id
             AND hold.fence = job.fence
             AND hold.passes_at IS NULL) = 0
  UNION ALL
  SELECT 'I6', hold.job_id, hold.resource,
         CASE WHEN job.state IS NULL THEN 'is held by a job that is not there'
              WHEN hold.resource = ANY (job.resources) IS NOT TRUE
              THEN 'is held by a job that does not need it'
              WHEN resource.name IS NULL THEN 'is held, and nobody knows its capacity'
              ELSE format('is held by a job that is %s', job.state)
          END
    FROM {schema}.hold
    LEFT JOIN LATERAL (
      SELECT job.state, job.worker, job.resources FROM {schema}.job WHERE job.id = hold.job_id
      UNION ALL
      SELECT done.state, NULL, done.resources
        FROM {schema}.job_done AS done
       WHERE done.id = hold.job_id
      OFFSET 0
    ) AS job ON true
    LEFT JOIN {schema}.resource ON resource.name = hold.resource
   WHERE hold.resource = ANY (job.resources) IS NOT TRUE
      OR (hold.passes_at IS NULL AND job.worker IS NULL)
      OR resource.name IS NULL;

-- I7: Only a paused or a failed job blocks, only its own target, and until a recorded act; only a
-- waiting one reserves.
CREATE VIEW {schema}.invariant_i07 (id, job_id, resource, detail) AS
  SELECT 'I7', block.job_id, block.resource,
         CASE WHEN job.state IN ('paused', 'failed') THEN 'is blocked and is not its job''s target'
              ELSE format('is blocked by a job that is %s', coalesce(job.state, 'not there'))
          END
    FROM {schema}.block
    LEFT JOIN LATERAL (
      SELECT job.state, job.target FROM {schema}.job WHERE job.id = block.job_id
      UNION ALL
      SELECT done.state, done.target FROM {schema}.job_done AS done WHERE done.id = block.job_id
      OFFSET 0
    ) AS job ON true
   WHERE job.state IN ('paused', 'failed') IS NOT TRUE
      OR block.resource IS DISTINCT FROM 'target:' || job.target
  UNION ALL
  SELECT 'I7', failed.id, 'target:' || failed.target,
         'failed and was to keep its target, which no recorded act freed'
    FROM (SELECT *
            FROM {schema}.job_done AS done
           WHERE done.state = 'failed'
           ORDER BY done.finished_at DESC
           LIMIT (SELECT 100)) AS failed -- unknown to the planner, who else prefers to sort them all
   WHERE failed.target IS NOT NULL
     AND failed.attempt_outcome IS NOT NULL
     AND failed.policy ->> 'on_failure' = 'hold' -- its own word; a queue's may have changed since
     AND (SELECT count(*)
            FROM {schema}.block
           WHERE block.job_id = failed.id AND block.resource = 'target:' || failed.target) = 0
     AND (SELECT count(*)
            FROM {schema}.audit
           WHERE audit.resource = 'target:' || failed.target
             AND audit.act = 'release'
             AND audit.at >= failed.finished_at) = 0
  UNION ALL
  SELECT 'I7', reservation.job_id, reservation.resource,
         format('is reserved for a job that is %s', coalesce(job.state, 'not there'))
    FROM {schema}.reservation
    LEFT JOIN LATERAL (
      SELECT job.state FROM {schema}.job WHERE job.id = reservation.job_id OFFSET 0
    ) AS job ON true
   WHERE job.state IS DISTINCT FROM 'queued';

-- I8: Nobody runs on a target who started while the first in line was due and waiting. (Waiting is
-- parked, since when it has been queued without a break. When an enqueue was committed is not known.)
CREATE VIEW {schema}.invariant_i08 (id, job_id, resource, detail) AS
  SELECT 'I8', ran.id, hold.resource, format('started before job %s, whose turn it was', first.id)
    FROM {schema}.hold
   CROSS JOIN LATERAL (
     SELECT job.id, job.lane, job.run_at, job.seq, job.started_at
       FROM {schema}.job
      WHERE job.id = hold.job_id AND job.fence = hold.fence
     OFFSET 0
   ) AS ran
   CROSS JOIN LATERAL {schema}.first_on_target(hold.resource, 1) AS head
   CROSS JOIN LATERAL (
     SELECT job.id, job.lane, job.run_at, job.seq
       FROM {schema}.job
      WHERE job.id = head.id
        AND job.run_at <= ran.started_at
        AND job.waiting_since < ran.started_at
     OFFSET 0
   ) AS first
    JOIN {schema}.lane AS ran_lane ON ran_lane.id = ran.lane
    JOIN {schema}.lane AS first_lane ON first_lane.id = first.lane
   WHERE hold.resource LIKE 'target:%'
     AND hold.passes_at IS NULL
     AND (first_lane.priority, first.run_at, first.seq) < (ran_lane.priority, ran.run_at, ran.seq);

-- I14: Where there is room and somebody waits, somebody was woken: on a target the first in line, on
-- any other resource one of each lane that waits for it, who passes on what it does not take. (The
-- room that a silent worker leaves is for the reaper to find, and what is reserved is no room, even
-- when its owner does not insist. Of more than a thousand resources each look sees another thousand.)
CREATE VIEW {schema}.invariant_i14 (id, job_id, resource, detail) AS
  WITH page AS MATERIALIZED (
    SELECT resource.name, resource.capacity
      FROM {schema}.resource
     ORDER BY resource.name
    OFFSET floor(random() * ceil((SELECT count(*) FROM {schema}.resource) / 1000.0))::bigint * 1000
     LIMIT 1000
  ), open AS MATERIALIZED (
    SELECT page.name
      FROM page
     WHERE (SELECT count(*)
              FROM (SELECT FROM {schema}.job WHERE job.waiting_on = page.name LIMIT 1) AS one) > 0
       AND (SELECT count(*) FROM {schema}.block WHERE block.resource = page.name) = 0
       AND page.capacity
             > (SELECT count(*)
                  FROM {schema}.hold
                 WHERE hold.resource = page.name
                   AND (hold.passes_at IS NULL
                        OR hold.passes_at > {schema}.clock() - interval '15 seconds'))
               + (SELECT count(*)
                    FROM {schema}.reservation
                   WHERE reservation.resource = page.name AND reservation.got)
  ), waiting AS MATERIALIZED (
    SELECT open.name, lanes.lane, first.id
      FROM open
     CROSS JOIN LATERAL {schema}.lanes_waiting_on(open.name) AS lanes
     CROSS JOIN LATERAL (
       SELECT job.id
         FROM {schema}.job
        WHERE job.waiting_on = open.name AND job.lane = lanes.lane
        ORDER BY job.run_at, job.seq
        LIMIT 1
     ) AS first
     WHERE open.name NOT LIKE 'target:%'
  ), awake AS MATERIALIZED (
    SELECT lanes.lane, first.resources
      FROM (SELECT DISTINCT waiting.lane FROM waiting) AS lanes
     CROSS JOIN LATERAL (
       SELECT job.resources
         FROM {schema}.job
        WHERE job.lane = lanes.lane
          AND job.state = 'queued'
          AND job.waiting_on IS NULL
          AND job.run_at <= {schema}.clock() + interval '15 seconds'
        ORDER BY job.run_at, job.seq
        LIMIT 2000
     ) AS first
  ), woken AS MATERIALIZED (
    SELECT DISTINCT awake.lane, wanted.name
      FROM awake
     CROSS JOIN LATERAL unnest(awake.resources) AS wanted (name)
  ), unread AS MATERIALIZED ( -- lanes with more who are awake than were looked at
    SELECT awake.lane FROM awake GROUP BY awake.lane HAVING count(*) = 2000
  )
  SELECT 'I14', waiting.id, waiting.name, 'waits, and nobody was woken although there is room'
    FROM waiting
    LEFT JOIN woken ON woken.lane = waiting.lane AND woken.name = waiting.name
    LEFT JOIN unread ON unread.lane = waiting.lane
   WHERE woken.lane IS NULL AND unread.lane IS NULL
  UNION ALL
  SELECT 'I14', head.id, open.name, 'waits for its target, which is free, and is the first in line'
    FROM open
   CROSS JOIN LATERAL {schema}.first_on_target(open.name, 1) AS head
   CROSS JOIN LATERAL (
     SELECT job.target, job.waiting_on FROM {schema}.job WHERE job.id = head.id OFFSET 0
   ) AS parked
   WHERE open.name LIKE 'target:%'
     AND parked.waiting_on = open.name
     -- Somebody who became due since this statement began may be before it.
     AND (SELECT count(*)
            FROM {schema}.job
           WHERE job.target = parked.target
             AND job.state = 'queued'
             AND job.waiting_on IS NULL
             AND job.run_at > {schema}.clock()
             AND job.run_at <= {schema}.clock() + interval '15 seconds') = 0;
