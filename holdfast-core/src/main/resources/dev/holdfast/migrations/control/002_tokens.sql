-- Who may ask for what. The token itself is nowhere: only its SHA-256 is, which finds it.
CREATE TABLE {schema}.token (
  id         uuid PRIMARY KEY,
  name       text NOT NULL,
  role       text NOT NULL,
  tenant     text, -- NULL belongs to none, and so may be used with any
  hash       bytea NOT NULL UNIQUE,
  created_at timestamptz NOT NULL DEFAULT now(),
  expires_at timestamptz,
  revoked_at timestamptz,
  CONSTRAINT token_of_system_has_no_tenant CHECK ((role = 'system') = (tenant IS NULL))
);
