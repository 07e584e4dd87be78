-- How long the lease is, where its worker asked for another length than the policy's: a beat that says
-- none renews it for as long, and after an outage it is lost only when there was as much time to renew
-- it. Without an index, like the moment it ends at, so that beats stay heap-only updates.
ALTER TABLE {schema}.job ADD COLUMN IF NOT EXISTS lease_ms bigint;
