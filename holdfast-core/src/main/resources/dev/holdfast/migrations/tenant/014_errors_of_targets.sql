-- One that was resumed begins anew: what became of it before is its earlier attempt's.
CREATE OR REPLACE VIEW {schema}.target_jobs AS
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
         CASE WHEN state NOT IN ('paused', 'succeeded', 'failed', 'cancelled') THEN NULL
              WHEN error_code = 'DRAINED' THEN 'Job was interrupted by user'
              ELSE error_message
          END AS error,
         created_at, started_at, finished_at AS completed_at,
         coalesce(input_tokens, 0) AS total_input_tokens,
         coalesce(output_tokens, 0) AS total_output_tokens
    FROM {schema}.job_all
   WHERE target IS NOT NULL;
