-- Bake-off of table designs: tables and procedures. `run` loads this file afresh for every
-- measurement, into the schema `bakeoff`. psql variables: args_type (json, jsonb), fillfactor.
--
-- A claim_* function takes up to 500 due jobs and returns their ids, fences and args (as text).
-- A finish_* function ends them all as succeeded, each guarded by its fence.
-- Autovacuum is off for these tables, so that it does not fall into one run and not into the next.

SET client_min_messages = warning;
DROP SCHEMA IF EXISTS bakeoff CASCADE;
CREATE SCHEMA bakeoff;
SET search_path = bakeoff;

------------------------------------------------------------------------------------ tables

CREATE SEQUENCE fence_seq;

-- What a worker can be asked to serve, interned. A lower priority number is better.
CREATE TABLE lane (
    id int PRIMARY KEY, queue text NOT NULL, kind text NOT NULL, priority int NOT NULL,
    host text, labels text[]);
INSERT INTO lane                        -- 50 lanes that our worker serves: 25 kinds, 2 priorities
    SELECT i, 'main', 'k' || (i + 1) / 2, i % 2, NULL, NULL FROM generate_series(1, 50) i;
INSERT INTO lane VALUES
    (101, 'other', 'k1', 1, NULL, NULL),          -- another queue
    (102, 'main', 'unserved', 1, NULL, NULL),     -- a kind nobody serves
    (103, 'main', 'k1', 1, 'gone', NULL),         -- a host that is absent
    (104, 'main', 'k1', -1, NULL, NULL);          -- served, better priority (jobs of the far future)

CREATE DOMAIN json_or_jsonb AS :args_type;   -- psql variables are not seen inside function bodies

CREATE TABLE job (
    id uuid PRIMARY KEY, seq bigint GENERATED ALWAYS AS IDENTITY, lane int NOT NULL,
    policy int NOT NULL DEFAULT 1, state text NOT NULL DEFAULT 'queued', run_at timestamptz NOT NULL,
    attempt int NOT NULL DEFAULT 0, failures int NOT NULL DEFAULT 0, max_attempts int,
    fence bigint NOT NULL DEFAULT 0, resources text[], unique_key text, tags text[],
    stop_requested bool NOT NULL DEFAULT false, worker text, lease_expires_at timestamptz,
    started_at timestamptz, created_at timestamptz NOT NULL DEFAULT now(),
    error_code text, error_message text, args :args_type NOT NULL,
    CHECK ((state = 'running') = (lease_expires_at IS NOT NULL))
) WITH (autovacuum_enabled = false, fillfactor = :fillfactor);
CREATE INDEX job_claim ON job (lane, run_at, seq) WHERE state = 'queued';
CREATE INDEX job_unique ON job (unique_key) WHERE unique_key IS NOT NULL;
-- `run` adds, where the variant has it: job_leased (fence) WHERE worker IS NOT NULL

-- The same with queue, kind, priority and host in the row.
CREATE TABLE job_plain (
    LIKE job INCLUDING ALL, queue text NOT NULL, kind text NOT NULL, priority int NOT NULL, host text
) WITH (autovacuum_enabled = false, fillfactor = :fillfactor);
ALTER TABLE job_plain DROP COLUMN lane;           -- drops its index too
CREATE INDEX job_plain_claim ON job_plain (queue, priority, run_at, seq) WHERE state = 'queued';

CREATE TABLE job_done (
    id uuid PRIMARY KEY, seq bigint NOT NULL, lane int NOT NULL, policy int NOT NULL, state text NOT NULL,
    run_at timestamptz NOT NULL, attempt int NOT NULL, failures int NOT NULL, max_attempts int,
    resources text[], unique_key text, tags text[], created_at timestamptz NOT NULL,
    finished_at timestamptz NOT NULL, args :args_type NOT NULL, result :args_type,
    fence bigint, worker text, started_at timestamptz, error_code text, error_message text
) WITH (autovacuum_enabled = false);              -- last line: facts of the last attempt
CREATE INDEX job_done_finished ON job_done USING brin (finished_at);
CREATE INDEX job_done_failed ON job_done (finished_at) WHERE state = 'failed';

CREATE TABLE attempt (
    job_id uuid, fence bigint, attempt int NOT NULL, worker text, started_at timestamptz,
    finished_at timestamptz, outcome text, error_code text, error_message text, log_excerpt text,
    PRIMARY KEY (job_id, fence)) WITH (autovacuum_enabled = false);

-- Three tables: the whole row moves here at the claim.
CREATE TABLE running (LIKE job INCLUDING DEFAULTS, PRIMARY KEY (id)) WITH (autovacuum_enabled = false);

-- A narrow row for the beat, beside the job.
CREATE TABLE lease (job_id uuid PRIMARY KEY, fence bigint NOT NULL, expires_at timestamptz NOT NULL)
    WITH (autovacuum_enabled = false, fillfactor = 50);

------------------------------------------------------------------------------------ filling

-- n jobs spread over lanes first_lane … first_lane + lanes - 1, due in the order of insertion.
CREATE FUNCTION fill(n int, payload text, first_lane int DEFAULT 1, lanes int DEFAULT 1,
                     due interval DEFAULT '-1 hour') RETURNS void LANGUAGE sql AS $$
    INSERT INTO job (id, lane, run_at, args)
    SELECT (lpad(to_hex((extract(epoch FROM clock_timestamp()) * 1000)::bigint), 12, '0')
               || substr(md5(first_lane || '-' || i), 1, 20))::uuid,
           first_lane + i % lanes, now() + due + i * interval '1 microsecond', payload::json_or_jsonb
      FROM generate_series(1, n) i $$;

CREATE FUNCTION fill_plain(n int, payload text, first_lane int DEFAULT 1, lanes int DEFAULT 1,
                           due interval DEFAULT '-1 hour') RETURNS void LANGUAGE sql AS $$
    INSERT INTO job_plain (id, queue, kind, priority, host, run_at, args)
    SELECT (lpad(to_hex((extract(epoch FROM clock_timestamp()) * 1000)::bigint), 12, '0')
               || substr(md5(first_lane || '-' || i), 1, 20))::uuid,
           l.queue, l.kind, l.priority, l.host, now() + due + i * interval '1 microsecond', payload::json_or_jsonb
      FROM generate_series(1, n) i JOIN lane l ON l.id = first_lane + i % lanes $$;

-- The first k of the lanes that our worker serves, and the one with jobs of the far future.
CREATE FUNCTION served(k int, OUT lanes int[], OUT priorities int[]) LANGUAGE sql AS $$
    SELECT array_agg(id), array_agg(priority) FROM lane WHERE id <= k OR id = 104 $$;

------------------------------------------------------------------------------------ claims

-- Lanes: look at the best 500 over all lanes without locks, count from them how many to take of each
-- lane, lock so many in each lane, update. at/after: the last place taken in each lane.
-- The outer LIMIT takes no row away; without it the planner believes in millions of rows (10 % of the
-- lane, 200 times), joins by hash and compiles the statement with JIT.
-- <…> differ by variant; lines marked --@ are only in the one that starts from the remembered place.
CREATE FUNCTION make_claim(
    name text, key text DEFAULT 'j.id', limited text DEFAULT 'LIMIT 500', from_place bool DEFAULT false,
    matching text DEFAULT 'WHERE j.id = ANY (ARRAY (SELECT key FROM due))',
    fence text DEFAULT '(SELECT nextval(''fence_seq''))',
    take text DEFAULT $take$taken AS (
            UPDATE job j SET state = 'running', attempt = attempt + 1, fence = <fence>, worker = 'host-1234',
                             started_at = now(), lease_expires_at = now() + interval '30 s'
            <matching>
            RETURNING j.id, j.fence, j.args, j.lane, j.run_at, j.seq)$take$)
RETURNS void LANGUAGE plpgsql AS $make$
DECLARE body text := $claim$
    CREATE FUNCTION <name>(lanes int[], priorities int[], INOUT at timestamptz[], INOUT after bigint[],
                           OUT ids uuid[], OUT fences bigint[], OUT args text[])
    LANGUAGE plpgsql AS $$ DECLARE ls int[]; rs timestamptz[]; ss bigint[]; BEGIN
        WITH best AS MATERIALIZED (
            SELECT l.lane, l.at, l.after
              FROM unnest(lanes, priorities, at, after) l (lane, priority, at, after), LATERAL (
                SELECT j.run_at, j.seq FROM job j
                 WHERE j.lane = l.lane AND j.state = 'queued' AND j.run_at <= now()
                   --@ AND (j.run_at, j.seq) > (l.at, l.after)
                 ORDER BY j.run_at, j.seq LIMIT 500) c
             ORDER BY l.priority, c.run_at, c.seq LIMIT 500),
        quota AS MATERIALIZED (
            SELECT l.lane, l.at, l.after, count(*) AS n FROM best l GROUP BY l.lane, l.at, l.after),
        due AS MATERIALIZED (
            SELECT d.key FROM quota l, LATERAL (
                SELECT <key> AS key FROM job j
                 WHERE j.lane = l.lane AND j.state = 'queued' AND j.run_at <= now()
                   --@ AND (j.run_at, j.seq) > (l.at, l.after)
                 ORDER BY j.run_at, j.seq LIMIT l.n FOR UPDATE SKIP LOCKED) d
             <limit>),
        <take>
        SELECT array_agg(t.id), array_agg(t.fence), array_agg(t.args::text)
               --@ , array_agg(t.lane), array_agg(t.run_at), array_agg(t.seq)
          INTO ids, fences, args
               --@ , ls, rs, ss
          FROM taken t;
        --@ SELECT array_agg(coalesce(p.run_at, l.at) ORDER BY l.n), array_agg(coalesce(p.seq, l.after) ORDER BY l.n)
        --@   INTO at, after FROM unnest(lanes, at, after) WITH ORDINALITY l (lane, at, after, n)
        --@   LEFT JOIN (SELECT DISTINCT ON (x.lane) x.* FROM unnest(ls, rs, ss) x (lane, run_at, seq)
        --@               ORDER BY x.lane, x.run_at DESC, x.seq DESC) p ON p.lane = l.lane;
    END $$ $claim$;
BEGIN
    body := replace(replace(replace(body, '<take>', take), '<matching>', matching), '<fence>', fence);
    body := replace(replace(replace(body, '<name>', name), '<key>', key), '<limit>', limited);
    EXECUTE CASE WHEN from_place THEN replace(body, '--@', '') ELSE body END;
END $make$;

-- One fence number for a whole claim unless the name says otherwise.
SELECT make_claim('claim_lanes'),
       make_claim('claim_lanes_join', matching => 'FROM due WHERE j.id = due.key'),
       make_claim('claim_lanes_ctid', key => 'j.ctid', matching => 'WHERE j.ctid = ANY (ARRAY (SELECT key FROM due))'),
       make_claim('claim_lanes_fence_each', fence => 'nextval(''fence_seq'')'),
       make_claim('claim_lanes_no_limit', limited => ''),
       make_claim('claim_lanes_from_place', from_place => true);

-- No lanes: one index over the queue, filters for the rest.
CREATE FUNCTION claim_plain(kinds text[], OUT ids uuid[], OUT fences bigint[], OUT args text[])
LANGUAGE plpgsql AS $$ BEGIN
    WITH due AS MATERIALIZED (
        SELECT j.id FROM job_plain j
         WHERE j.queue = 'main' AND j.state = 'queued' AND j.run_at <= now()
           AND j.kind = ANY (kinds) AND (j.host IS NULL OR j.host = 'here')
         ORDER BY j.priority, j.run_at, j.seq LIMIT 500 FOR UPDATE SKIP LOCKED),
    taken AS (
        UPDATE job_plain j SET state = 'running', attempt = attempt + 1, fence = (SELECT nextval('fence_seq')),
                         worker = 'host-1234', started_at = now(), lease_expires_at = now() + interval '30 s'
         WHERE j.id = ANY (ARRAY (SELECT due.id FROM due))
        RETURNING j.id, j.fence, j.args)
    SELECT array_agg(t.id), array_agg(t.fence), array_agg(t.args::text) INTO ids, fences, args FROM taken t;
END $$;

-- Three tables: the claim moves the row.
SELECT make_claim('claim_three', take => $take$gone AS (
            DELETE FROM job j WHERE j.id = ANY (ARRAY (SELECT key FROM due)) RETURNING j.*),
        taken AS (
            INSERT INTO running (id, seq, lane, policy, state, run_at, attempt, failures, max_attempts, fence,
                                 resources, unique_key, tags, worker, lease_expires_at, started_at,
                                 created_at, error_code, error_message, args)
            SELECT g.id, g.seq, g.lane, g.policy, 'running', g.run_at, g.attempt + 1, g.failures, g.max_attempts,
                   (SELECT nextval('fence_seq')), g.resources, g.unique_key, g.tags, 'host-1234',
                   now() + interval '30 s', now(), g.created_at, g.error_code, g.error_message, g.args
              FROM gone g
            RETURNING id, fence, running.args, lane, run_at, seq)$take$);

------------------------------------------------------------------------------------ finishes

CREATE FUNCTION finish_delete(ids uuid[], fences bigint[]) RETURNS void LANGUAGE plpgsql AS $$ BEGIN
    DELETE FROM job j USING unnest(ids, fences) f (id, fence)
     WHERE j.id = f.id AND j.fence = f.fence AND j.state = 'running';
END $$;

CREATE FUNCTION finish_in_place(ids uuid[], fences bigint[]) RETURNS void LANGUAGE plpgsql AS $$ BEGIN
    WITH ended AS (
        UPDATE job j SET state = 'succeeded', lease_expires_at = NULL, worker = NULL
          FROM unnest(ids, fences) f (id, fence)
         WHERE j.id = f.id AND j.fence = f.fence AND j.state = 'running'
        RETURNING j.*)
    INSERT INTO attempt SELECT id, fence, attempt, 'host-1234', started_at, now(), 'succeeded' FROM ended;
END $$;

CREATE FUNCTION finish_move_attempt(ids uuid[], fences bigint[]) RETURNS void LANGUAGE plpgsql AS $$ BEGIN
    WITH ended AS (
        DELETE FROM job j USING unnest(ids, fences) f (id, fence)
         WHERE j.id = f.id AND j.fence = f.fence AND j.state = 'running' RETURNING j.*),
    done AS (
        INSERT INTO job_done
        SELECT id, seq, lane, policy, 'succeeded', run_at, attempt, failures, max_attempts, resources, unique_key, tags,
               created_at, now(), args, NULL FROM ended)
    INSERT INTO attempt SELECT id, fence, attempt, worker, started_at, now(), 'succeeded' FROM ended;
END $$;

CREATE FUNCTION finish_move(ids uuid[], fences bigint[]) RETURNS void LANGUAGE plpgsql AS $$ BEGIN
    WITH ended AS (
        DELETE FROM job j USING unnest(ids, fences) f (id, fence)
         WHERE j.id = f.id AND j.fence = f.fence AND j.state = 'running' RETURNING j.*)
    INSERT INTO job_done
    SELECT id, seq, lane, policy, 'succeeded', run_at, attempt, failures, max_attempts, resources, unique_key, tags,
           created_at, now(), args, NULL, fence, worker, started_at, error_code, error_message FROM ended;
END $$;

CREATE FUNCTION finish_three(ids uuid[], fences bigint[]) RETURNS void LANGUAGE plpgsql AS $$ BEGIN
    WITH ended AS (
        DELETE FROM running j USING unnest(ids, fences) f (id, fence)
         WHERE j.id = f.id AND j.fence = f.fence RETURNING j.*)
    INSERT INTO job_done
    SELECT id, seq, lane, policy, 'succeeded', run_at, attempt, failures, max_attempts, resources, unique_key, tags,
           created_at, now(), args, NULL, fence, worker, started_at, error_code, error_message FROM ended;
END $$;

-- finish_move with a narrow lease row for each running job (drain inserts it after the claim).
CREATE FUNCTION finish_move_lease(ids uuid[], fences bigint[]) RETURNS void LANGUAGE plpgsql AS $$ BEGIN
    DELETE FROM lease WHERE job_id = ANY (ids);
    PERFORM finish_move(ids, fences);
END $$;

------------------------------------------------------------------------------------ measurements

-- Claim, commit, finish, commit, until nothing is due, or n jobs or 20 seconds are spent.
-- finish NULL: claims only.
CREATE PROCEDURE drain(claim text, finish text, lanes_served int, n int, INOUT rate numeric, INOUT wal_per_job numeric)
LANGUAGE plpgsql AS $$
DECLARE
    lanes int[]; priorities int[]; at timestamptz[]; after bigint[]; kinds text[];
    ids uuid[]; fences bigint[]; args text[]; total int := 0;
    t timestamptz; lsn pg_lsn := pg_current_wal_insert_lsn();
BEGIN
    SELECT * INTO lanes, priorities FROM served(lanes_served);
    at := array_fill('-infinity'::timestamptz, ARRAY[cardinality(lanes)]);
    after := array_fill(0::bigint, ARRAY[cardinality(lanes)]);
    SELECT array_agg(DISTINCT kind) INTO kinds FROM lane WHERE id = ANY (lanes);
    t := clock_timestamp();
    LOOP
        IF claim = 'claim_plain' THEN
            SELECT * INTO ids, fences, args FROM claim_plain(kinds);
        ELSE
            EXECUTE format('SELECT * FROM %I($1, $2, $3, $4)', claim)
               INTO at, after, ids, fences, args USING lanes, priorities, at, after;
        END IF;
        EXIT WHEN ids IS NULL;
        IF finish = 'finish_move_lease' THEN
            INSERT INTO lease SELECT *, now() + interval '30 s' FROM unnest(ids, fences);
        END IF;
        COMMIT;
        IF finish IS NOT NULL THEN
            EXECUTE format('SELECT %I($1, $2)', finish) USING ids, fences;
            COMMIT;
        END IF;
        total := total + cardinality(ids);
        EXIT WHEN total >= n OR clock_timestamp() > t + interval '20 s';
    END LOOP;
    rate := total / extract(epoch FROM clock_timestamp() - t);
    wal_per_job := (pg_current_wal_insert_lsn() - lsn) / greatest(total, 1);
END $$;

-- Extend the leases of all running jobs by one statement, n times.
CREATE PROCEDURE beat(target text, n int, INOUT us_per_lease numeric, INOUT wal_per_lease numeric)
LANGUAGE plpgsql AS $$
DECLARE ids uuid[]; fences bigint[]; stops uuid[]; t timestamptz; lsn pg_lsn := pg_current_wal_insert_lsn();
BEGIN
    SELECT array_agg(id), array_agg(fence) INTO ids, fences FROM job WHERE state = 'running';
    t := clock_timestamp();
    FOR i IN 1 .. n LOOP
        IF target = 'wide' THEN
            WITH kept AS (
                UPDATE job j SET lease_expires_at = now() + interval '30 s'
                  FROM unnest(ids, fences) f (id, fence)
                 WHERE j.id = f.id AND j.fence = f.fence AND j.state = 'running'
                RETURNING j.id, j.stop_requested)
            SELECT array_agg(id) FILTER (WHERE stop_requested) INTO stops FROM kept;
        ELSE
            WITH kept AS (
                UPDATE lease l SET expires_at = now() + interval '30 s'
                  FROM unnest(ids, fences) f (id, fence) JOIN job j ON j.id = f.id
                 WHERE l.job_id = f.id AND l.fence = f.fence AND j.state = 'running'
                RETURNING j.id, j.stop_requested)
            SELECT array_agg(id) FILTER (WHERE stop_requested) INTO stops FROM kept;
        END IF;
        COMMIT;
    END LOOP;
    us_per_lease := extract(epoch FROM clock_timestamp() - t) * 1e6 / n / cardinality(ids);
    wal_per_lease := (pg_current_wal_insert_lsn() - lsn) / n / cardinality(ids);
END $$;
