-- What must never be, as views with one row for each time that it is. docs/invariants.md is the list.
--
-- They are read all the time and beside the work, so none of them reads all that waits or all that
-- finished: each starts from what runs, is held, is blocked or is waited for, and looks the rest up
-- by its key. LATERAL with OFFSET 0 and counted subqueries keep the planner from joining whole tables
-- instead. And they must not cry wolf: each is empty at every commit, whatever runs at once. What
-- came first is told by what was written under a lock that both sides had.

-- The jobs that are looked at: all that are leased, and of the others the latest thousand. A small
-- tenant is seen whole.
CREATE VIEW {schema}.job_watched AS
  SELECT job.id, job.lane, job.state, job.fence, job.worker, job.lease_expires_at, job.attempt,
         job.failures, job.granted, job.policy, job.unique_scope, job.unique_key, job.times_out_at,
         job.stop_as, job.resources, job.target, job.waiting_on, job.subject_type, job.subject_id,
         job.error_code, job.error_message
    FROM {schema}.job
   WHERE job.worker IS NOT NULL
  UNION ALL
  SELECT latest.id, latest.lane, latest.state, latest.fence, latest.worker,
         latest.lease_expires_at, latest.attempt, latest.failures, latest.granted, latest.policy,
         latest.unique_scope, latest.unique_key, latest.times_out_at, latest.stop_as,
         latest.resources, latest.target, latest.waiting_on, latest.subject_type,
         latest.subject_id, latest.error_code, latest.error_message
    FROM (SELECT * FROM {schema}.job ORDER BY job.id DESC LIMIT 1000) AS latest
   WHERE latest.worker IS NULL;

-- I1: A job has one lease at most: an owner, an expiry and a fence, all or none of them.
CREATE VIEW {schema}.invariant_i01 (id, job_id, resource, detail) AS
  SELECT 'I1', job.id, NULL::text,
         format('is %s with worker %s, fence %s and a lease until %s', job.state,
                coalesce(job.worker, 'none'), job.fence, coalesce(job.lease_expires_at::text, 'never'))
    FROM {schema}.job_watched AS job
   WHERE (job.state IN ('dispatched', 'running', 'stopping')) <> (job.worker IS NOT NULL)
      OR (job.worker IS NULL) <> (job.lease_expires_at IS NULL)
      OR (job.worker IS NOT NULL AND job.fence < 1)
  UNION ALL
  SELECT 'I1', hold.job_id, NULL,
         'holds resources under the fences ' || string_agg(DISTINCT hold.fence::text, ' and ')
    FROM {schema}.hold
   WHERE hold.passes_at IS NULL
   GROUP BY hold.job_id
  HAVING count(DISTINCT hold.fence) > 1;

-- I2: Fences only grow: none is above the last one given, and none of a job's is above its latest.
CREATE VIEW {schema}.invariant_i02 (id, job_id, resource, detail) AS
  SELECT 'I2', job.id, NULL::text,
         format('has fence %s, above the last one given, %s', job.fence, last.fence)
    FROM {schema}.job_watched AS job
    JOIN (SELECT coalesce(pg_sequence_last_value('{schema}.fence'), 0) AS fence) AS last
      ON job.fence > last.fence
  UNION ALL
  SELECT 'I2', job.id, NULL,
         format('has fence %s, below that of an attempt that ended, %s', job.fence, ended.fence)
    FROM {schema}.job_watched AS job
   CROSS JOIN LATERAL (
     SELECT max(attempt.fence) AS fence FROM {schema}.attempt WHERE attempt.job_id = job.id
   ) AS ended
   WHERE ended.fence > job.fence
  UNION ALL
  SELECT 'I2', hold.job_id, hold.resource,
         format('is held under fence %s, above that of its job, %s', hold.fence, job.fence)
    FROM {schema}.hold
   CROSS JOIN LATERAL (
     SELECT job.fence FROM {schema}.job WHERE job.id = hold.job_id
     UNION ALL
     SELECT done.fence FROM {schema}.job_done AS done WHERE done.id = hold.job_id
     OFFSET 0
   ) AS job
   WHERE hold.fence > job.fence;

-- I3: Whoever lost a lease changes nothing: an attempt that ended is not leased, holds nothing, and
-- logs nothing after its successor. (Numbers of log lines are drawn under the job's lock.)
CREATE VIEW {schema}.invariant_i03 (id, job_id, resource, detail) AS
  SELECT 'I3', hold.job_id, hold.resource,
         format('is held under fence %s while its job runs under %s', hold.fence, job.fence)
    FROM {schema}.hold
   CROSS JOIN LATERAL (
     SELECT job.fence, job.worker FROM {schema}.job WHERE job.id = hold.job_id OFFSET 0
   ) AS job
   WHERE hold.passes_at IS NULL AND job.worker IS NOT NULL AND hold.fence <> job.fence
  UNION ALL
  SELECT 'I3', job.id, NULL,
         format('is %s under fence %s, whose attempt has ended', job.state, job.fence)
    FROM {schema}.job
   WHERE job.worker IS NOT NULL
     AND (SELECT count(*)
            FROM {schema}.attempt
           WHERE attempt.job_id = job.id AND attempt.fence = job.fence) > 0
  UNION ALL
  SELECT 'I3', job.id, NULL, format('was logged to %s times under a fence that was over', said.late)
    FROM {schema}.job
   CROSS JOIN LATERAL (
     SELECT count(*) FILTER (WHERE line.fence < line.fence_before OR line.fence > job.fence) AS late
       FROM (SELECT recent.fence, lag(recent.fence) OVER (ORDER BY recent.id) AS fence_before
               FROM (SELECT job_log.id, job_log.fence
                       FROM {schema}.job_log
                      WHERE job_log.job_id = job.id
                      ORDER BY job_log.id DESC
                      LIMIT 10) AS recent) AS line
   ) AS said
   WHERE job.worker IS NOT NULL AND said.late > 0;

-- I4: A finished job comes back only by a recorded act, and no attempt leaves the history.
CREATE VIEW {schema}.invariant_i04 (id, job_id, resource, detail) AS
  SELECT 'I4', job.id, NULL::text,
         format('was %s by "%s" of %s, and is %s by nobody''s', act.after, act.act, act.actor,
                job.state)
    FROM (SELECT * FROM {schema}.audit ORDER BY audit.id DESC LIMIT 1000) AS act
   CROSS JOIN LATERAL (
     SELECT job.id, job.state
       FROM {schema}.job
      WHERE job.id = act.job_id
        AND job.created_at <= act.at -- or it is a new job that took over a forgotten one's id
     OFFSET 0
   ) AS job
   WHERE act.after IN ('succeeded', 'failed', 'cancelled')
     AND (SELECT count(*)
            FROM {schema}.audit AS later
           WHERE later.job_id = act.job_id AND later.id > act.id) = 0
  UNION ALL
  SELECT 'I4', job.id, NULL, format('was granted %s attempts by no recorded act', job.granted)
    FROM {schema}.job_watched AS job
   WHERE job.granted > 0
     AND (SELECT count(*) FROM {schema}.audit WHERE audit.job_id = job.id) = 0
  UNION ALL
  SELECT 'I4', job.id, NULL,
         format('failed %s times, of which the history knows %s', job.failures, known.failures)
    FROM {schema}.job_watched AS job
   CROSS JOIN LATERAL (
     SELECT count(*) AS failures
       FROM {schema}.attempt
      WHERE attempt.job_id = job.id AND attempt.outcome IN ('failed', 'lost')
   ) AS known
   WHERE job.failures > known.failures;

-- I5: A job is in one place: among the live or in the history.
CREATE VIEW {schema}.invariant_i05 (id, job_id, resource, detail) AS
  SELECT 'I5', job.id, NULL::text, format('is both %s and %s', job.state, done.state)
    FROM {schema}.job_watched AS job
   CROSS JOIN LATERAL (
     SELECT done.state FROM {schema}.job_done AS done WHERE done.id = job.id OFFSET 0
   ) AS done;

-- I10: No more attempts than the policy has and operators granted, and every failure, also that of
-- a silent worker, used one up. (What a queue said when it let a job try again is not known, but no
-- policy has more than a thousand.)
CREATE VIEW {schema}.invariant_i10 (id, job_id, resource, detail) AS
  SELECT 'I10', job.id, NULL::text,
         format('is at attempt %s, and was to have %s and %s granted', job.attempt,
                allowed.attempts, job.granted)
    FROM {schema}.job_watched AS job
   CROSS JOIN LATERAL (
     SELECT coalesce(substring(job.policy ->> 'max_attempts' FROM '^[0-9]{1,9}$')::integer,
                     (SELECT CASE WHEN queue.name IS NULL THEN 3 ELSE 1000 END
                        FROM {schema}.lane
                        LEFT JOIN {schema}.queue ON queue.name = lane.queue
                       WHERE lane.id = job.lane)) AS attempts
     OFFSET 0
   ) AS allowed
   WHERE job.attempt > allowed.attempts + job.granted
  UNION ALL
  SELECT 'I10', job.id, NULL,
         format('is %s at attempt %s after %s failures', job.state, job.attempt, job.failures)
    FROM {schema}.job_watched AS job
   WHERE job.attempt < job.failures + CASE WHEN job.worker IS NULL THEN 0 ELSE 1 END;

-- I16: The same id, key or claim has one effect: what keeps them unique is in place, and no grant was
-- made to two.
CREATE VIEW {schema}.invariant_i16 (id, job_id, resource, detail) AS
  SELECT 'I16', NULL::uuid, NULL::text, format('index %s is not there to keep rows unique', index.name)
    FROM unnest(ARRAY['job_pkey', 'job_unique_key', 'job_done_pkey', 'attempt_pkey', 'hold_pkey',
                      'claim_pkey']) AS index (name)
   WHERE (SELECT count(*)
            FROM pg_index
           WHERE pg_index.indexrelid = to_regclass('{schema}.' || index.name)
             AND pg_index.indisunique
             AND pg_index.indisvalid) = 0
  UNION ALL
  SELECT 'I16', max(job.id::text)::uuid, NULL,
         format('has the unique key %s of another job', job.unique_key)
    FROM {schema}.job_watched AS job
   WHERE job.unique_key IS NOT NULL
   GROUP BY job.unique_scope, job.unique_key
  HAVING count(*) > 1
  UNION ALL
  SELECT 'I16', max(job.id::text)::uuid, NULL,
         format('is leased under fence %s, which two workers have', job.fence)
    FROM {schema}.job
   WHERE job.worker IS NOT NULL
   GROUP BY job.fence
  HAVING count(DISTINCT job.worker) > 1
  UNION ALL
  SELECT 'I16', NULL, NULL, format('fence %s answers two claims', granted.fence)
    FROM (SELECT * FROM {schema}.claim ORDER BY claim.claimed_at DESC LIMIT 1000) AS recent
   CROSS JOIN LATERAL unnest(recent.fences) AS granted (fence)
   GROUP BY granted.fence
  HAVING count(DISTINCT recent.claim_id) > 1;

-- I21: A job's row does not contradict itself.
CREATE VIEW {schema}.invariant_i21 (id, job_id, resource, detail) AS
  SELECT 'I21', job.id, broken.resource, broken.detail
    FROM {schema}.job_watched AS job
   CROSS JOIN LATERAL (
     VALUES (job.state IN ('pending', 'queued', 'paused', 'dispatched', 'running', 'stopping'),
             NULL::text, format('is live and %s', job.state)),
            (job.times_out_at IS NULL OR job.worker IS NOT NULL, NULL,
             'has a time limit though it is not leased'),
            (job.stop_as IS NULL OR (job.state = 'stopping'
                                     AND job.stop_as IN ('paused', 'cancelled', 'failed')),
             NULL, format('is %s and is to end as %s', job.state, job.stop_as)),
            (job.waiting_on IS NULL OR job.state = 'queued',
             job.waiting_on, format('is %s and parked', job.state)),
            (job.waiting_on IS NULL OR coalesce(job.waiting_on = ANY (job.resources), false),
             job.waiting_on, 'is parked on what it does not need'),
            (job.target IS NULL OR coalesce('target:' || job.target = ANY (job.resources), false),
             job.target, 'does not need its own target'),
            ((job.subject_type IS NULL) = (job.subject_id IS NULL), NULL, 'has half a subject'),
            ((job.error_code IS NULL) = (job.error_message IS NULL), NULL, 'has half an error'),
            ((job.unique_scope IS NULL) = (job.unique_key IS NULL), NULL, 'has half a unique key')
   ) AS broken (sound, resource, detail)
   WHERE NOT broken.sound;
