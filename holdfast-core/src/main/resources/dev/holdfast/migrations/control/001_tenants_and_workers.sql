-- What does not belong to one tenant: which tenants there are, and which workers serve them.

CREATE TABLE {schema}.tenant (
  name        text PRIMARY KEY,
  schema_name text NOT NULL UNIQUE,
  created_at  timestamptz NOT NULL DEFAULT now()
);

-- One row per worker process and start. A name proves nothing: the incarnation is random, so a
-- process that comes back under its old name is not taken for the one that left.
CREATE TABLE {schema}.worker (
  incarnation uuid PRIMARY KEY,
  name        text NOT NULL,
  host        text NOT NULL,
  labels      text[] NOT NULL,
  tenant      text,   -- NULL serves all of them
  queues      text[] NOT NULL,
  kinds       text[], -- NULL runs any
  process     text,   -- tells those on the same machine whether it still runs; NULL is unknown
  started_at  timestamptz NOT NULL DEFAULT now(),
  beat_at     timestamptz NOT NULL DEFAULT now()
);

CREATE INDEX worker_beat ON {schema}.worker (beat_at);
