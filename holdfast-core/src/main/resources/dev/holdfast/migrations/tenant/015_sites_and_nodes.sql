-- Dialect A names a job's site and node; here they are resources.
CREATE OR REPLACE VIEW {schema}.jobs AS
  SELECT id, kind AS type, queue,
         CASE WHEN state IN ('pending', 'queued', 'paused') THEN 'queued'
              WHEN state IN ('dispatched', 'running', 'stopping') THEN 'running'
              ELSE state
          END AS status,
         run_at AS run_after, attempt AS attempts,
         CASE WHEN lease_expires_at IS NOT NULL THEN started_at END AS locked_at,
         CASE WHEN lease_expires_at IS NOT NULL THEN worker END AS locked_by,
         args AS payload, error_code, error_message, created_at, started_at, finished_at,
         (SELECT min(substr(name, 6)) FROM unnest(resources) AS name WHERE name LIKE 'site:%')
           AS site_id,
         (SELECT min(substr(name, 6)) FROM unnest(resources) AS name WHERE name LIKE 'node:%')
           AS node_id
    FROM {schema}.job_all;
