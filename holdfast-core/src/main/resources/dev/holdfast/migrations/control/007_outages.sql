-- When a reaper of any node last came through to this database, and when none did for too long:
-- nobody could renew a lease then. A reaper that starts knows from here what was before it.
CREATE TABLE {schema}.reached (
  id   smallint PRIMARY KEY DEFAULT 1 CHECK (id = 1),
  at   timestamptz NOT NULL,
  late integer NOT NULL -- so many in a row came too long after the one before
);

-- Of the time before this table nobody knows anything: it counts as away.
INSERT INTO {schema}.reached (at, late) VALUES ('epoch', 0);

CREATE TABLE {schema}.outage (
  until timestamptz PRIMARY KEY,
  since timestamptz NOT NULL,
  CONSTRAINT outage_lasts CHECK (since < until)
);
