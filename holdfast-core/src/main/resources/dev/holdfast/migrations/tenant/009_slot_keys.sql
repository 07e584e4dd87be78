-- The key of a slot's job was unique among those that anybody may give to a job: whoever gave it to
-- another kept the slot from ever running. It has a scope of its own now; jobs that are there follow.
-- What a version before this one enqueues meanwhile stays where it is, and runs as it did.
WITH waiting AS MATERIALIZED (
  SELECT job.id
    FROM {schema}.job
   WHERE job.id = ANY (ARRAY (SELECT job_id
                                FROM {schema}.slot
                               WHERE status IN ('queued', 'running', 'skipped_timeout')))
     AND job.unique_scope = 'tenant'
     AND job.unique_key LIKE 'slot:%'
   ORDER BY job.id -- one order for all who wait for jobs
     FOR UPDATE
)
UPDATE {schema}.job SET unique_scope = 'slot' WHERE id = ANY (ARRAY (SELECT id FROM waiting));
