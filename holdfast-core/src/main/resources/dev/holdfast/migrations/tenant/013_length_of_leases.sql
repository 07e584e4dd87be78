-- How long the lease is, whatever the policy says by now: a beat that says no length renews it for as
-- long, and after an outage it is lost only when there was as much time to renew it. Without an index, like the moment it ends at, so that beats stay heap-only updates.
ALTER TABLE {schema}.job ADD COLUMN IF NOT EXISTS lease_ms bigint;
