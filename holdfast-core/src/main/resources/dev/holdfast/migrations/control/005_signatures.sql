-- Signatures of requests that were served, so that nobody serves one again, on whichever node. A
-- request is refused for its age long before its signature is forgotten.
CREATE TABLE {schema}.signature (
  hash bytea PRIMARY KEY,
  at   timestamptz NOT NULL DEFAULT now()
);

CREATE INDEX signature_age ON {schema}.signature (at);
