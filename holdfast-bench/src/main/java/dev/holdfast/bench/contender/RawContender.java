package dev.holdfast.bench.contender;

import dev.holdfast.bench.measure.Server;

/**
 * Nothing but the SQL that any queue needs: no history, no fences, no policies. Not a product but
 * the practical limit, against which the others are measured.
 */
public final class RawContender implements Contender {

  private static final String CREATE =
      """
      DROP SCHEMA IF EXISTS raw CASCADE;
      CREATE SCHEMA raw;
      CREATE TABLE raw.job (
        id      bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
        kind    text NOT NULL,
        payload json NOT NULL,
        run_at  timestamptz NOT NULL DEFAULT now(),
        state   text NOT NULL DEFAULT 'queued'
      ) WITH (
        -- The same as Holdfast's, so that vacuum is no difference between them.
        autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 20000,
        autovacuum_analyze_scale_factor = 0, autovacuum_analyze_threshold = 50000
      );
      CREATE INDEX job_claimable ON raw.job (run_at, id) WHERE state = 'queued';
      """;

  @Override
  public String name() {
    return "raw";
  }

  @Override
  public Role role() {
    return Role.LIMIT;
  }

  @Override
  public String settings() {
    return "claims and deletes of 500, poll every 5 ms";
  }

  @Override
  public boolean canFill(Backlog backlog) {
    return backlog == Backlog.SAME;
  }

  @Override
  public boolean tellsClaims() {
    return true;
  }

  @Override
  public void reset(Server server) {
    server.execute(CREATE);
  }

  @Override
  public JobQueue open(Server server) {
    return new RawQueue(Pools.open(server.jdbcUrl(), Pools.CONNECTIONS));
  }
}
