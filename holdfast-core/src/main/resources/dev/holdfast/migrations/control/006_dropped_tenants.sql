-- Where the fences of tenants were that are no more. One that is made under the name of an old one
-- goes on from there: workers of the old one may still be about, and must not be taken for workers
-- of the new.
CREATE TABLE {schema}.dropped_tenant (
  name       text PRIMARY KEY,
  fence      bigint NOT NULL,
  dropped_at timestamptz NOT NULL DEFAULT now()
);
