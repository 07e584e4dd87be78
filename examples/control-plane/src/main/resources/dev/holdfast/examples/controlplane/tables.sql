-- The control plane's own tables, beside Holdfast's.
CREATE SCHEMA IF NOT EXISTS {schema};

CREATE TABLE IF NOT EXISTS {schema}.node (
  id         text PRIMARY KEY,
  host       text NOT NULL,
  port       integer,
  login      text,
  key_file   text,
  connection text,
  root       text NOT NULL -- where its environments are
);

CREATE TABLE IF NOT EXISTS {schema}.site (
  id   text PRIMARY KEY,
  name text NOT NULL UNIQUE
);

-- The state follows the environment's jobs, in the transactions that move them.
CREATE TABLE IF NOT EXISTS {schema}.environment (
  id      text PRIMARY KEY,
  site_id text NOT NULL REFERENCES {schema}.site,
  node_id text NOT NULL REFERENCES {schema}.node,
  name    text NOT NULL,
  state   text NOT NULL DEFAULT 'new'
          CHECK (state IN ('new', 'cloning', 'deploying', 'restoring', 'active', 'failed')),
  job_id  uuid, -- the job that put it there
  UNIQUE (site_id, name)
);
