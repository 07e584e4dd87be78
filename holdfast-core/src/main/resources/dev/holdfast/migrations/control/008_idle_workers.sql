-- In which time a worker had permits that no job wanted: it looked for jobs and got fewer than it could
-- take. It says so with its beats; what it says last counts up to the beat before. NULL of a worker that
-- is busy, that fails to look, or that does not say. Checked, and never decided by.
ALTER TABLE {schema}.worker
  ADD COLUMN idle_since timestamptz,
  ADD COLUMN idle_until timestamptz,
  ADD COLUMN poll_ms    bigint; -- how often it looks without being told of work
