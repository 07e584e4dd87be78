-- Dialects B and E, under the names of their documents, and what their lists are found by.

-- A target's jobs, newest first, among all the others. Jobs without a target pay nothing for them, and
-- no column of theirs ever changes.
CREATE INDEX job_of_target ON {schema}.job (target, seq) WHERE target IS NOT NULL;
CREATE INDEX job_done_of_target ON {schema}.job_done (target, seq) WHERE target IS NOT NULL;

CREATE VIEW {schema}.target_jobs AS
  SELECT id, target AS target_id, kind AS api_name, args AS parameters,
         CASE WHEN state IN ('dispatched', 'running', 'stopping') THEN 'RUNNING'
              WHEN state = 'succeeded' THEN 'SUCCESS'
              WHEN state = 'failed' THEN 'ERROR'
              WHEN state = 'cancelled' THEN 'CANCELED'
              ELSE upper(state)
          END AS status,
         CASE WHEN lease_expires_at IS NOT NULL THEN worker END AS lease_owner,
         lease_expires_at, state = 'stopping' AS cancel_requested,
         result,
         CASE error_code WHEN 'DRAINED' THEN 'Job was interrupted by user' ELSE error_message END
           AS error,
         created_at, started_at, finished_at AS completed_at,
         coalesce(input_tokens, 0) AS total_input_tokens,
         coalesce(output_tokens, 0) AS total_output_tokens
    FROM {schema}.job_all
   WHERE target IS NOT NULL;

CREATE VIEW {schema}.pull_jobs AS
  SELECT job.id, job.kind, job.args AS payload,
         CASE WHEN job.state IN ('dispatched', 'running', 'stopping') THEN 'processing'
              WHEN job.state = 'succeeded' THEN 'done'
              WHEN job.state IN ('failed', 'cancelled') THEN 'failed'
              ELSE 'queued'
          END AS status,
         job.done_reason, job.attempt AS attempts,
         coalesce((job.policy ->> 'max_attempts')::integer,
                  (queue.defaults ->> 'max_attempts')::integer, 3) + job.granted AS max_attempts,
         CASE WHEN job.lease_expires_at IS NOT NULL THEN job.worker END AS worker_id,
         job.lease_expires_at, job.cursor AS last_cursor,
         coalesce(job.progress_count, 0) AS progress_count,
         coalesce(job.result_count, 0) AS result_count,
         job.progress_at AS last_progress_at,
         coalesce((job.policy ->> 'target_count')::bigint,
                  (queue.defaults ->> 'target_count')::bigint) AS target_count,
         CASE WHEN job.state = 'queued' AND job.failures > 0 THEN job.run_at END AS next_retry_at,
         job.error_message AS last_error, job.created_at, job.finished_at
    FROM {schema}.job_all AS job
    LEFT JOIN {schema}.queue ON queue.name = job.queue
   WHERE job.queue = 'pull';

-- An attempt is known by its fence, which no other attempt of the tenant has.
CREATE VIEW {schema}.job_attempts AS
  SELECT fence AS id, job_id, worker AS worker_id, started_at, finished_at,
         CASE outcome WHEN 'succeeded' THEN 1 ELSE 0 END AS success, log_excerpt
    FROM {schema}.attempt_all;
