-- People who signed in to the dashboard with a token. A session is nowhere either: only its SHA-256.
CREATE TABLE {schema}.session (
  hash       bytea PRIMARY KEY,
  token_id   uuid NOT NULL REFERENCES {schema}.token (id) ON DELETE CASCADE,
  created_at timestamptz NOT NULL DEFAULT now(),
  expires_at timestamptz NOT NULL
);

CREATE INDEX session_age ON {schema}.session (expires_at);

-- A worker that is to take nothing more hears it with its next beat. Of this one life of it alone.
ALTER TABLE {schema}.worker ADD COLUMN drain_requested_at timestamptz;
