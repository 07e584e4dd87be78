-- Recurring work, and the ledger of the moments at which it was due.

CREATE TABLE {schema}.schedule (
  name                text PRIMARY KEY,
  cron                text,
  every_ms            bigint,
  timezone            text NOT NULL,
  dst_twice           text NOT NULL,
  dst_missing         text NOT NULL,
  kind                text NOT NULL,
  queue               text NOT NULL,
  priority            smallint NOT NULL,
  args                json NOT NULL,
  policy              json NOT NULL,
  resources           text[] NOT NULL,
  "coalesce"          boolean NOT NULL,
  misfire_grace_ms    bigint NOT NULL,
  max_instances       integer NOT NULL,
  expected_runtime_ms bigint NOT NULL,
  enabled             boolean NOT NULL,
  declared_by         text,        -- an application, whose code may stop doing so; NULL is a person
  next_at             timestamptz, -- the next slot to decide about; NULL while disabled
  updated_at          timestamptz NOT NULL DEFAULT {schema}.clock(),
  CONSTRAINT schedule_has_one_trigger CHECK (num_nonnulls(cron, every_ms) = 1),
  CONSTRAINT schedule_goes_on_while_enabled CHECK (enabled = (next_at IS NOT NULL))
);

CREATE INDEX schedule_due ON {schema}.schedule (next_at) WHERE next_at IS NOT NULL;

-- That the row is there is the right to run for that moment: whoever inserts it enqueues the job, in
-- the same transaction. Kept when its job is no longer.
CREATE TABLE {schema}.slot (
  id            bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  schedule      text NOT NULL,
  scheduled_for timestamptz NOT NULL,
  status        text NOT NULL,
  reason        text,
  job_id        uuid,
  worker        text,
  decided_at    timestamptz NOT NULL,
  started_at    timestamptz,
  finished_at   timestamptz,
  CONSTRAINT slot_is_taken_once UNIQUE (schedule, scheduled_for),
  CONSTRAINT slot_status_is_known CHECK
    (status IN ('queued', 'running', 'ran', 'failed', 'coalesced', 'skipped_misfire',
                'skipped_overlap', 'skipped_timeout')),
  CONSTRAINT slot_running_was_started CHECK (status <> 'running' OR started_at IS NOT NULL),
  CONSTRAINT slot_says_why CHECK
    (reason IS NOT NULL OR status IN ('queued', 'running', 'ran'))
);

CREATE UNIQUE INDEX slot_job ON {schema}.slot (job_id);
CREATE INDEX slot_status ON {schema}.slot (status);
CREATE INDEX slot_started_at ON {schema}.slot (started_at);
CREATE INDEX slot_open ON {schema}.slot (schedule) WHERE status IN ('queued', 'running');

-- Dialect D, under the names of its document: the slots that were started.
CREATE VIEW {schema}.job_runs AS
  SELECT id, schedule::varchar(128) AS job_name, scheduled_for, started_at, finished_at,
         CASE status WHEN 'ran' THEN 'success'
                     WHEN 'queued' THEN 'running' -- waits for its next attempt
                     ELSE status
          END AS status,
         worker::varchar(128) AS worker_instance,
         CASE WHEN status IN ('failed', 'skipped_timeout') THEN reason END AS error_message
    FROM {schema}.slot
   WHERE started_at IS NOT NULL;

-- I9: A slot runs at most once, and is never forgotten.
CREATE VIEW {schema}.invariant_i09 (id, job_id, resource, detail) AS
  SELECT 'I9', slot.job_id, 'schedule:' || slot.schedule,
         format('slot %s is %s and its job is %s', slot.scheduled_for, slot.status,
                coalesce(job.state, 'nowhere'))
    FROM {schema}.slot
    LEFT JOIN LATERAL (
      SELECT job.state FROM {schema}.job WHERE job.id = slot.job_id OFFSET 0
    ) AS job ON true
   WHERE slot.status = 'queued' AND job.state IS NULL
  UNION ALL
  SELECT 'I9', job.id, 'schedule:' || slot.schedule,
         format('slot %s is %s and its job runs', slot.scheduled_for, slot.status)
    FROM {schema}.job
   CROSS JOIN LATERAL (
     SELECT slot.schedule, slot.scheduled_for, slot.status
       FROM {schema}.slot
      WHERE slot.job_id = job.id
     OFFSET 0
   ) AS slot
   WHERE job.worker IS NOT NULL AND slot.status NOT IN ('running', 'skipped_timeout');
