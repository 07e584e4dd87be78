-- I4: A finished job comes back only by a recorded act, and no attempt leaves the history.
-- (An attempt that was stopped because it went over a limit is a failure, too.)
CREATE OR REPLACE VIEW {schema}.invariant_i04 (id, job_id, resource, detail) AS
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
      WHERE attempt.job_id = job.id
        AND (attempt.outcome IN ('failed', 'lost')
             OR (attempt.outcome = 'stopped' AND attempt.error_code <> 'STOPPED'))
   ) AS known
   WHERE job.failures > known.failures;
