-- I14: Where there is room and somebody waits, somebody was woken: on a target the first in line, on
-- any other resource one of each lane that waits for it, who passes on what it does not take. (The
-- room that a silent worker leaves is for the reaper to find, and what is reserved is no room, even
-- when its owner does not insist. Of more than a thousand resources each look sees another thousand.)
-- (What is kept for one who waits for it is room, too.)
CREATE OR REPLACE VIEW {schema}.invariant_i14 (id, job_id, resource, detail) AS
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
                   WHERE reservation.resource = page.name
                     AND reservation.got
                     AND NOT EXISTS (SELECT
                                       FROM {schema}.job
                                      WHERE job.id = reservation.job_id
                                        AND job.waiting_on = reservation.resource))
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
