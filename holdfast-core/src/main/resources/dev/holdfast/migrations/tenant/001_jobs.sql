-- The plain life of a job: waiting and running in job, finished in job_done.
-- docs/decisions/0001-tables.md has the measurements behind this shape.

-- The one clock every stored time is compared with: when the statement began, not its transaction,
-- which may be a handler's long one. A function, so that tests can move it; the
-- planner inlines it, so it costs nothing.
CREATE FUNCTION {schema}.clock() RETURNS timestamptz
  LANGUAGE sql STABLE PARALLEL SAFE
  AS 'SELECT statement_timestamp()';

-- Every grant of a lease draws from here, so a later grant always has the larger number.
-- JavaScript's integers end at 2^53, and so do our fences.
CREATE SEQUENCE {schema}.fence MAXVALUE 9007199254740991;

CREATE TABLE {schema}.queue (
  name              text PRIMARY KEY,
  paused            boolean NOT NULL DEFAULT false,
  concurrency_limit integer CHECK (concurrency_limit >= 1),
  defaults          json
);

-- A lane is a first-in, first-out line of jobs that are all the same to a worker: whoever may have
-- one may have the others. Claims go lane by lane and so never step over jobs of other queues, kinds,
-- hosts or priorities. Rows are few, shared and never change. A guarded lane's jobs need more than a
-- lease (resources, a subject) and are claimed with more care than the others.
CREATE TABLE {schema}.lane (
  id            bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  queue         text NOT NULL,
  kind          text NOT NULL,
  priority      smallint NOT NULL,
  host          text NOT NULL, -- '' is any host
  host_required boolean NOT NULL,
  labels        text[] NOT NULL,
  guarded       boolean NOT NULL,
  UNIQUE (queue, kind, priority, host, host_required, labels, guarded)
);

-- Enqueuers remember lane ids. Should this tenant be a new one under the name of a dropped one, those
-- they remember must not fit here: every tenant's lanes are a random range of their own, and a job
-- from another range is refused instead of standing in a line that nobody serves. A domain, because
-- its CHECK is parsed once per connection, a table's once per statement.
DO $$
DECLARE
  first bigint := floor(random() * 2 ^ 40)::bigint * 1048576;
BEGIN
  EXECUTE format('ALTER TABLE {schema}.lane ALTER COLUMN id RESTART WITH %s', first);
  EXECUTE format('CREATE DOMAIN {schema}.lane_id AS bigint
                    CONSTRAINT lane_is_of_this_tenant CHECK (VALUE >> 20 = %s)', first >> 20);
END
$$;

CREATE TABLE {schema}.job (
  id               uuid NOT NULL,
  seq              bigint GENERATED ALWAYS AS IDENTITY, -- order of enqueue within one run_at
  fence            bigint NOT NULL DEFAULT 0,
  run_at           timestamptz NOT NULL DEFAULT {schema}.clock(),
  created_at       timestamptz NOT NULL DEFAULT {schema}.clock(),
  started_at       timestamptz,
  lease_expires_at timestamptz,
  times_out_at     timestamptz, -- when the attempt has run too long; NULL is no limit
  lane             {schema}.lane_id NOT NULL,
  attempt          integer NOT NULL DEFAULT 0,
  failures         integer NOT NULL DEFAULT 0,
  granted          integer NOT NULL DEFAULT 0,
  state            text NOT NULL DEFAULT 'queued',
  worker           text,
  stop_as          text, -- what a requested stop is to end in, where that is not the policy's word
  args             json NOT NULL,
  policy           json,
  tags             text[],
  unique_scope     text,
  unique_key       text,
  resources        text[], -- sorted; the target's own is among them
  target           text,
  waiting_on       text, -- parked: the resource in its way
  waiting_since    timestamptz,
  passed_over      integer, -- how often it was un-parked and had to park again
  subject_type     text,
  subject_id       text,
  subject_during   text,
  error_code       text,
  error_message    text,
  cursor           text,
  progress_count   bigint,
  result_count     bigint,
  percent          double precision,
  message          text,
  progress_at      timestamptz,
  input_tokens     bigint,
  output_tokens    bigint,
  CONSTRAINT job_pkey PRIMARY KEY (id),
  -- Dispatched, running or stopping. Not one CHECK more, and none longer: the server reads their
  -- text again for every statement. What else a row must not contradict is for
  -- invariant_i01 and invariant_i21 to find.
  CONSTRAINT job_lease_belongs_to_state CHECK
    ((lease_expires_at IS NOT NULL) = (state ~ '^[drs]'))
) WITH (
  -- Room on the page, so that beats and progress are heap-only updates.
  fillfactor = 70,
  -- A queue's dead rows lie exactly where the next claim looks, so vacuum by count, not by share.
  autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 20000,
  autovacuum_analyze_scale_factor = 0, autovacuum_analyze_threshold = 5000,
  vacuum_truncate = false
);

-- The planner must never see a small job table. A worker that sits idle on an empty one would keep
-- the plan made then, sequential scans, while a burst fills it with millions. So the table is born
-- with a megabyte of empty pages, and vacuum (above) never gives them back. Counted as empty, it makes
-- the planner expect one row wherever it looks, and so look it up by index.
ALTER TABLE {schema}.job ALTER COLUMN args SET STORAGE PLAIN;
INSERT INTO {schema}.job (id, seq, run_at, created_at, lane, state, args)
  OVERRIDING SYSTEM VALUE
  SELECT gen_random_uuid(), -page, now(), now(), lane.id, 'pending', to_json(repeat('x', 7500))
    FROM generate_series(1, 130) AS page,
         (SELECT nextval(pg_get_serial_sequence('{schema}.lane', 'id'))) AS lane (id);
DELETE FROM {schema}.job;
ALTER TABLE {schema}.job ALTER COLUMN args SET STORAGE EXTENDED;
ANALYZE {schema}.job;

CREATE INDEX job_claimable ON {schema}.job (lane, run_at, seq)
  WHERE state = 'queued' AND waiting_on IS NULL;

-- Who gets a resource next: the first of each lane.
CREATE INDEX job_waiting ON {schema}.job (waiting_on, lane, run_at, seq)
  WHERE waiting_on IS NOT NULL;

-- Whose turn it is on a target, parked or not.
CREATE INDEX job_target ON {schema}.job (target, lane, run_at, seq)
  WHERE target IS NOT NULL AND state = 'queued';

-- For the reaper and for a worker's own jobs. The predicate is not on state: the finishing statement
-- guards by state, and must never be tempted to walk this index instead of the primary key. Beats do
-- not touch these columns, so they stay heap-only updates.
CREATE INDEX job_leased ON {schema}.job (fence) WHERE worker IS NOT NULL;

CREATE UNIQUE INDEX job_unique_key ON {schema}.job (unique_scope, unique_key)
  WHERE unique_key IS NOT NULL;

-- A thing that only so many jobs may have at once. Rows appear with the first claim that needs them.
-- The row's lock is the right to change who holds it, who waits for it and what blocks it.
CREATE TABLE {schema}.resource (
  name        text NOT NULL,
  capacity    integer NOT NULL DEFAULT 1,
  capacity_at timestamptz NOT NULL DEFAULT {schema}.clock(), -- holders from before may be more
  CONSTRAINT resource_has_capacity CHECK (capacity >= 1)
) WITH (
  autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 5000, vacuum_truncate = false
);

-- Who has it: a running attempt, or one that is not known to have stopped, until passes_at.
CREATE TABLE {schema}.hold (
  resource  text NOT NULL,
  job_id    uuid NOT NULL,
  fence     bigint NOT NULL,
  since     timestamptz NOT NULL,
  passes_at timestamptz
) WITH (
  autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 5000, vacuum_truncate = false
);

-- Like job, these must never look small to the planner: he would read all of them for each row that is
-- looked up. Only as many pages as it takes; their keys come after, or they would be padded, too.
ALTER TABLE {schema}.resource ALTER COLUMN name SET STORAGE PLAIN;
INSERT INTO {schema}.resource (name) SELECT repeat('x', 7500) FROM generate_series(1, 24);
DELETE FROM {schema}.resource;
ALTER TABLE {schema}.resource ALTER COLUMN name SET STORAGE EXTENDED;
ALTER TABLE {schema}.resource ADD CONSTRAINT resource_pkey PRIMARY KEY (name);
ANALYZE {schema}.resource;

ALTER TABLE {schema}.hold ALTER COLUMN resource SET STORAGE PLAIN;
INSERT INTO {schema}.hold (resource, job_id, fence, since)
  SELECT repeat('x', 7500), gen_random_uuid(), 0, now() FROM generate_series(1, 64);
DELETE FROM {schema}.hold;
ALTER TABLE {schema}.hold ALTER COLUMN resource SET STORAGE EXTENDED;
ALTER TABLE {schema}.hold ADD CONSTRAINT hold_pkey PRIMARY KEY (resource, job_id, fence);
ANALYZE {schema}.hold;

CREATE INDEX hold_passing ON {schema}.hold (passes_at) WHERE passes_at IS NOT NULL;

-- The lanes of those who wait for a resource, found without reading all who do.
CREATE FUNCTION {schema}.lanes_waiting_on(resource text) RETURNS TABLE (lane bigint)
  LANGUAGE sql STABLE
  AS $$
    WITH RECURSIVE found (lane) AS (
      (SELECT job.lane
         FROM {schema}.job
        WHERE job.waiting_on = resource
        ORDER BY job.lane
        LIMIT 1)
      UNION ALL
      SELECT (SELECT job.lane
                FROM {schema}.job
               WHERE job.waiting_on = resource AND job.lane > found.lane
               ORDER BY job.lane
               LIMIT 1)
        FROM found
       WHERE found.lane IS NOT NULL
    )
    SELECT found.lane FROM found WHERE found.lane IS NOT NULL
  $$;

-- The first in line on a target, whether they are parked or not.
CREATE FUNCTION {schema}.first_on_target(resource text, most integer)
  RETURNS TABLE (id uuid, place bigint)
  LANGUAGE sql STABLE
  AS $$
    WITH RECURSIVE on_target AS (
      SELECT substr(resource, length('target:') + 1) AS name
    ), found (lane) AS (
      (SELECT job.lane
         FROM {schema}.job
        WHERE job.target = (SELECT name FROM on_target) AND job.state = 'queued'
        ORDER BY job.lane
        LIMIT 1)
      UNION ALL
      SELECT (SELECT job.lane
                FROM {schema}.job
               WHERE job.target = (SELECT name FROM on_target) AND job.state = 'queued'
                 AND job.lane > found.lane
               ORDER BY job.lane
               LIMIT 1)
        FROM found
       WHERE found.lane IS NOT NULL
    )
    SELECT first.id, row_number() OVER (ORDER BY lane.priority, first.run_at, first.seq)
      FROM found
      JOIN {schema}.lane ON lane.id = found.lane
     CROSS JOIN LATERAL (
       SELECT job.id, job.run_at, job.seq
         FROM {schema}.job
        WHERE job.target = (SELECT name FROM on_target) AND job.state = 'queued'
          AND job.lane = found.lane AND job.run_at <= {schema}.clock()
        ORDER BY job.run_at, job.seq
        LIMIT most
     ) AS first
     ORDER BY lane.priority, first.run_at, first.seq
     LIMIT most
  $$;

-- A job that stands on its target, paused or failed, until somebody acts.
CREATE TABLE {schema}.block (
  resource text NOT NULL,
  job_id   uuid NOT NULL,
  reason   text NOT NULL,
  actor    text NOT NULL,
  since    timestamptz NOT NULL,
  CONSTRAINT block_pkey PRIMARY KEY (resource, job_id)
);

CREATE INDEX block_job ON {schema}.block (job_id);

-- A job that was passed over too often takes what it needs one by one, in the order of names, and
-- keeps others from it: got, or next to get. Rare, so rows are few.
CREATE TABLE {schema}.reservation (
  resource text NOT NULL,
  job_id   uuid NOT NULL,
  got      boolean NOT NULL,
  since    timestamptz NOT NULL,
  CONSTRAINT reservation_pkey PRIMARY KEY (resource, job_id)
);

CREATE INDEX reservation_job ON {schema}.reservation (job_id);

-- Whether what is reserved for a job is really kept from others: not while something blocks it or its
-- queue is paused, and not when it was woken and nobody came for it. That could be for days.
CREATE FUNCTION {schema}.insists(id uuid) RETURNS boolean
  LANGUAGE sql STABLE
  AS $$
    SELECT EXISTS (
      SELECT
        FROM {schema}.job
        JOIN {schema}.lane ON lane.id = job.lane
        LEFT JOIN {schema}.queue ON queue.name = lane.queue
       WHERE job.id = insists.id
         AND job.state = 'queued'
         AND NOT coalesce(queue.paused, false)
         AND NOT EXISTS (SELECT FROM {schema}.block WHERE block.resource = ANY (job.resources))
         AND (job.waiting_on IS NOT NULL
              OR EXISTS (SELECT
                           FROM {schema}.reservation
                          WHERE reservation.job_id = job.id
                            AND reservation.since > {schema}.clock() - interval '10 seconds')))
  $$;

-- A record of the application's world that follows its job: a site, an environment.
CREATE TABLE {schema}.subject (
  type       text NOT NULL,
  id         text NOT NULL,
  state      text NOT NULL,
  job_id     uuid NOT NULL,
  updated_at timestamptz NOT NULL,
  CONSTRAINT subject_pkey PRIMARY KEY (type, id)
);

-- Who did what to which job or resource, and why. Written in the transaction of the act itself.
CREATE TABLE {schema}.audit (
  id       bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  at       timestamptz NOT NULL,
  actor    text NOT NULL,
  act      text NOT NULL,
  job_id   uuid,
  resource text,
  before   text,
  after    text,
  reason   text
);

CREATE INDEX audit_job ON {schema}.audit (job_id, id) WHERE job_id IS NOT NULL;

-- Claims that carried an id, so that one whose answer got lost can be asked again for the same leases.
CREATE TABLE {schema}.claim (
  claim_id   text PRIMARY KEY,
  worker     text NOT NULL,
  fences     bigint[] NOT NULL,
  claimed_at timestamptz NOT NULL
);

CREATE INDEX claim_age ON {schema}.claim (claimed_at);

-- Finished jobs with the facts of their last attempt. Earlier attempts are in attempt.
CREATE TABLE {schema}.job_done (
  id             uuid NOT NULL,
  seq            bigint NOT NULL,
  fence          bigint NOT NULL,
  run_at         timestamptz NOT NULL,
  created_at     timestamptz NOT NULL,
  started_at     timestamptz,
  finished_at    timestamptz NOT NULL,
  lane           bigint NOT NULL,
  attempt        integer NOT NULL,
  failures       integer NOT NULL,
  granted        integer NOT NULL,
  state          text NOT NULL,
  attempt_outcome text, -- how the last attempt ended; NULL when the job was ended while it waited
  worker         text,
  args           json NOT NULL,
  result         json,
  policy         json,
  tags           text[],
  unique_scope   text,
  unique_key     text,
  resources      text[],
  target         text,
  subject_type   text,
  subject_id     text,
  subject_during text,
  error_code     text,
  error_message  text,
  log_excerpt    text,
  done_reason    text, -- of a success, where that is not that its worker said so
  cursor         text,
  progress_count bigint,
  result_count   bigint,
  percent        double precision,
  message        text,
  progress_at    timestamptz,
  input_tokens   bigint,
  output_tokens  bigint,
  CONSTRAINT job_done_pkey PRIMARY KEY (id),
  CONSTRAINT job_done_is_finished CHECK (state IN ('succeeded', 'failed', 'cancelled')),
  CONSTRAINT job_done_failed_says_why CHECK (state <> 'failed' OR error_code IS NOT NULL),
  CONSTRAINT job_done_error_is_whole CHECK ((error_code IS NULL) = (error_message IS NULL)),
  CONSTRAINT job_done_attempt_is_whole CHECK
    ((attempt_outcome IS NULL) = (worker IS NULL) AND (worker IS NULL OR started_at IS NOT NULL))
);

CREATE INDEX job_done_finished ON {schema}.job_done USING brin (finished_at);
CREATE INDEX job_done_failed ON {schema}.job_done (finished_at) WHERE state = 'failed';

-- Attempts that ended without ending their job.
CREATE TABLE {schema}.attempt (
  job_id        uuid NOT NULL,
  fence         bigint NOT NULL,
  number        integer NOT NULL,
  started_at    timestamptz NOT NULL,
  finished_at   timestamptz NOT NULL,
  worker        text NOT NULL,
  outcome       text NOT NULL,
  error_code    text,
  error_message text,
  log_excerpt   text,
  CONSTRAINT attempt_pkey PRIMARY KEY (job_id, fence),
  CONSTRAINT attempt_error_is_whole CHECK ((error_code IS NULL) = (error_message IS NULL))
);

-- What a job found or made, each once: whoever says it again is not wrong.
CREATE TABLE {schema}.job_item (
  job_id uuid NOT NULL,
  key    text NOT NULL,
  id     bigint GENERATED ALWAYS AS IDENTITY, -- order of arrival
  fence  bigint NOT NULL,
  at     timestamptz NOT NULL,
  data   json NOT NULL,
  CONSTRAINT job_item_pkey PRIMARY KEY (job_id, key)
);

-- Reports that carried a key, so that one whose answer got lost can be sent again.
CREATE TABLE {schema}.idempotency (
  job_id uuid NOT NULL,
  key    text NOT NULL,
  fence  bigint NOT NULL,
  at     timestamptz NOT NULL,
  CONSTRAINT idempotency_pkey PRIMARY KEY (job_id, key)
);

CREATE TABLE {schema}.job_log (
  job_id uuid NOT NULL,
  id     bigint GENERATED ALWAYS AS IDENTITY,
  fence  bigint NOT NULL,
  at     timestamptz NOT NULL,
  line   text NOT NULL,
  ends   bigint NOT NULL, -- where it ends in the job's log, in bytes, each line with its line feed
  CONSTRAINT job_log_pkey PRIMARY KEY (job_id, id)
);

-- Every job, wherever it is.
CREATE VIEW {schema}.job_all AS
  SELECT job.id, job.seq, lane.queue, lane.kind, lane.priority, job.state, job.run_at, job.fence,
         job.attempt, job.failures, job.granted, job.worker, job.lease_expires_at, job.args,
         NULL::json AS result, job.policy, job.tags, job.unique_scope, job.unique_key,
         job.resources, job.target, job.waiting_on, job.waiting_since,
         job.subject_type, job.subject_id, job.subject_during,
         job.error_code, job.error_message, job.cursor, job.progress_count, job.result_count,
         job.percent, job.message, job.progress_at, job.input_tokens, job.output_tokens,
         job.created_at, job.started_at, NULL::timestamptz AS finished_at,
         NULL::text AS done_reason
    FROM {schema}.job
    JOIN {schema}.lane ON lane.id = job.lane
  UNION ALL
  SELECT done.id, done.seq, lane.queue, lane.kind, lane.priority, done.state, done.run_at, done.fence,
         done.attempt, done.failures, done.granted, done.worker, NULL, done.args,
         done.result, done.policy, done.tags, done.unique_scope, done.unique_key,
         done.resources, done.target, NULL, NULL,
         done.subject_type, done.subject_id, done.subject_during,
         done.error_code, done.error_message, done.cursor, done.progress_count, done.result_count,
         done.percent, done.message, done.progress_at, done.input_tokens, done.output_tokens,
         done.created_at, done.started_at, done.finished_at,
         CASE WHEN done.state <> 'succeeded' THEN NULL
              WHEN done.attempt_outcome IS DISTINCT FROM 'succeeded' THEN 'resolved'
              ELSE coalesce(done.done_reason, 'worker_done')
          END
    FROM {schema}.job_done AS done
    JOIN {schema}.lane ON lane.id = done.lane;

-- Every attempt that ended.
CREATE VIEW {schema}.attempt_all AS
  SELECT job_id, fence, number, started_at, finished_at, worker, outcome,
         error_code, error_message, log_excerpt
    FROM {schema}.attempt
  UNION ALL
  SELECT id, fence, attempt, started_at, finished_at, worker, attempt_outcome,
         error_code, error_message, log_excerpt
    FROM {schema}.job_done
   WHERE attempt_outcome IS NOT NULL;

-- Dialect A, under the names of its document.
CREATE VIEW {schema}.jobs AS
  SELECT id, kind AS type, queue,
         CASE WHEN state IN ('pending', 'queued', 'paused') THEN 'queued'
              WHEN state IN ('dispatched', 'running', 'stopping') THEN 'running'
              ELSE state
          END AS status,
         run_at AS run_after, attempt AS attempts,
         CASE WHEN lease_expires_at IS NOT NULL THEN started_at END AS locked_at,
         CASE WHEN lease_expires_at IS NOT NULL THEN worker END AS locked_by,
         args AS payload, error_code, error_message, created_at, started_at, finished_at
    FROM {schema}.job_all;
