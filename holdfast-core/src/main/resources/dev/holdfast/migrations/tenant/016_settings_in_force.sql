-- Within less, a tick may not get to decide a slot; with zero it never did.
UPDATE {schema}.schedule SET misfire_grace_ms = 1000 WHERE misfire_grace_ms < 1000;

-- Dialect E, under the names of its document: the settings in force.
CREATE OR REPLACE VIEW {schema}.settings AS
  SELECT known.name,
         coalesce(queue.defaults #>> known.place,
                  CASE WHEN queue.defaults -> 'retry' ->> 'type' = 'exponential'
                       THEN known.of_itself
                   END) AS value
    FROM (VALUES ('LEASE_SEC_DEFAULT', '{lease_seconds}'::text[], NULL),
                 ('BACKOFF_BASE_SEC', '{retry,base_seconds}', '30'),
                 ('BACKOFF_MAX_SEC', '{retry,cap_seconds}', '3600'),
                 ('MAX_ATTEMPTS_DEFAULT', '{max_attempts}', NULL)
         ) AS known (name, place, of_itself)
    JOIN {schema}.queue ON queue.name = 'pull';
