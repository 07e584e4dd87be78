-- Agents: workers that renew no lease by its fence. They are known by their names, by when they were
-- last heard of, and by what they say of a job's status.

-- Whatever an agent says is a sign of life.
CREATE TABLE {schema}.agent (
  name    text PRIMARY KEY,
  seen_at timestamptz NOT NULL,
  info    json -- what it last said about itself
) WITH (
  fillfactor = 50, autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 5000
);

-- What agents say of their jobs beside how they end, and what is shown of them outside of the database.
-- One row for each job of theirs, for as long as that is remembered.
CREATE TABLE {schema}.agent_job (
  job_id         uuid PRIMARY KEY,
  worker         text,        -- the agent that it was given to last
  fence          bigint,      -- under this lease
  heard_at       timestamptz, -- when it was given, or last reported on
  said           text,        -- the last status that was reported under that lease
  container_id   text,
  container_name text,
  exit_code      integer,
  error          text,
  details        json,
  revision       bigint NOT NULL DEFAULT 0, -- grows with every word about it
  shown          text,        -- the state and fence that its files show,
  shown_revision bigint,      -- with these words,
  shown_at       timestamptz, -- since then
  shown_info     text,        -- a digest of what they say beside the status
  queue_file     text,        -- the one that stands for it among those of the queue
  settled        boolean NOT NULL DEFAULT false, -- they show its end
  removing       boolean NOT NULL DEFAULT false  -- once the job is gone, so are they to be
) WITH (
  fillfactor = 50, autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 5000
);

CREATE INDEX agent_job_unsettled ON {schema}.agent_job (worker, job_id) WHERE NOT settled;
CREATE INDEX agent_job_removing ON {schema}.agent_job (job_id) WHERE removing;

-- What the registry of agents' jobs shows. The row's lock is the right to write it.
CREATE TABLE {schema}.agent_registry (
  id     smallint PRIMARY KEY DEFAULT 1 CHECK (id = 1),
  digest text
);

INSERT INTO {schema}.agent_registry DEFAULT VALUES;

-- A setting that is a length of time, as it is in force now.
CREATE FUNCTION {schema}.seconds_of(wanted text, otherwise integer) RETURNS interval
  LANGUAGE sql STABLE
  AS $$
    SELECT coalesce((SELECT value::float8 FROM {schema}.setting WHERE name = wanted), otherwise)
             * interval '1 second'
  $$;

-- How long an agent may be silent before what it has is taken from it.
CREATE FUNCTION {schema}.agent_patience() RETURNS interval
  LANGUAGE sql STABLE
  AS $$
    SELECT {schema}.seconds_of('HOST_HEARTBEAT_TTL', 60)
             + {schema}.seconds_of('WORKER_STALE_GRACE_SECONDS', 120)
  $$;

-- How long an agent may say nothing of a job: of one that it has only been given, and of one that it
-- has reported on.
CREATE FUNCTION {schema}.agent_lease(reported boolean) RETURNS interval
  LANGUAGE sql STABLE
  AS $$
    SELECT CASE WHEN reported THEN {schema}.seconds_of('JOB_STATUS_TTL', 300)
                ELSE least({schema}.seconds_of('JOB_STATUS_TTL', 300),
                           (SELECT coalesce((defaults ->> 'lease_seconds')::float8, 300)
                                     * interval '1 second'
                              FROM {schema}.queue
                             WHERE name = 'agents'))
            END
  $$;
