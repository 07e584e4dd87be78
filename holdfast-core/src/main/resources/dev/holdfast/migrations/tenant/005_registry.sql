-- What the server knows about a tenant beside its jobs.

-- Settings that somebody changed, in force at once. One that nobody changed has its default.
CREATE TABLE {schema}.setting (
  name       text PRIMARY KEY,
  value      text NOT NULL,
  updated_at timestamptz NOT NULL DEFAULT now()
);

-- Kinds that are more than a name: what runs them, and what their jobs must say.
CREATE TABLE {schema}.kind (
  name           text PRIMARY KEY,
  executor       text CHECK (executor IN ('process', 'container', 'ansible', 'http')),
  playbook       text,
  node_targeted  boolean NOT NULL DEFAULT false,
  subject_during text,
  defaults       json
);

-- Machines that jobs of node-targeted kinds are run on.
CREATE TABLE {schema}.node (
  id         text PRIMARY KEY,
  host       text NOT NULL,
  port       integer CHECK (port BETWEEN 1 AND 65535),
  login      text,
  key_file   text,
  connection text
);

-- Who is told about what, by HTTP.
CREATE TABLE {schema}.webhook (
  name       text PRIMARY KEY,
  url        text NOT NULL,
  events     text[] NOT NULL,
  secret     text NOT NULL,
  created_at timestamptz NOT NULL DEFAULT now()
);

-- What they are to be told, written in the transaction that causes it, until it is passed on.
CREATE TABLE {schema}.outbox (
  id     bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  event  text NOT NULL,
  job_id uuid,
  detail text,
  at     timestamptz NOT NULL
);

-- The queues of the dialects, with what their documents say of them.
INSERT INTO {schema}.queue (name, defaults) VALUES
  ('targets', '{"max_attempts": 1, "timeout_seconds": null, "on_stop": "pause",
                "on_failure": "hold", "on_lease_lost": "fail", "token_limit": 15000}'),
  ('agents', '{"max_attempts": 1, "timeout_seconds": null, "lease_seconds": 300,
               "on_lease_lost": "fail"}'),
  ('pull', '{"max_attempts": 3, "timeout_seconds": null, "lease_seconds": 180,
             "retry": {"type": "exponential", "base_seconds": 30, "cap_seconds": 3600}}');
