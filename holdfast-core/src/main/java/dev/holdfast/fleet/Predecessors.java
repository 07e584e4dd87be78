package dev.holdfast.fleet;

import dev.holdfast.tenant.Columns;
import dev.holdfast.tenant.Db;
import java.time.Instant;
import java.util.List;
import java.util.Optional;
import java.util.UUID;

/**
 * Workers that ran on this machine and certainly no longer do. Nobody need wait for their leases to
 * run out. Proof is only that the process is gone: a name proves nothing, nor does silence.
 */
public final class Predecessors {

  private static final String WITH_PROCESS =
      """
      SELECT worker.incarnation, worker.name, worker.process, now() AS asked_at
        FROM {schema}.worker
       WHERE worker.process IS NOT NULL
         AND (:tenant::text IS NULL OR worker.tenant IS NULL OR worker.tenant = :tenant)
       ORDER BY worker.incarnation
      """;

  // A name that somebody else goes by, too, is left alone: whose lease it is cannot be told.
  private static final String NAMESAKES =
      """
      SELECT DISTINCT name FROM {schema}.worker WHERE incarnation <> ALL (:dead)
      """;

  private static final String FORGET =
      """
      DELETE FROM {schema}.worker
       WHERE (incarnation = ANY (:dead) AND (:tenant::text IS NULL OR tenant = :tenant))
          OR beat_at < now() - interval '1 day'
      """;

  /**
   * Dead workers.
   *
   * @param names those that no other worker goes by
   * @param asOf what was claimed under their names later is somebody else's
   */
  public record Dead(List<UUID> incarnations, List<String> names, Instant asOf) {

    public static final Dead NOBODY = new Dead(List.of(), List.of(), Instant.EPOCH);
  }

  private record Row(UUID incarnation, String name, ProcessId process, Instant askedAt) {}

  private final Db db;
  private final Optional<String> tenant;
  private final String withProcess;
  private final String namesakes;
  private final String forget;

  /**
   * As a worker sees them.
   *
   * @param tenant the one that it serves; empty is all
   */
  public Predecessors(Db control, Optional<String> tenant) {
    this.db = control;
    this.tenant = tenant;
    this.withProcess = control.sql(WITH_PROCESS);
    this.namesakes = control.sql(NAMESAKES);
    this.forget = control.sql(FORGET);
  }

  public Dead dead() {
    Optional<ProcessId> here = ProcessId.current();
    if (here.isEmpty()) {
      return Dead.NOBODY;
    }
    return db.withHandle(handle -> {
      List<Row> dead =
          handle
              .createQuery(withProcess)
              .bind("tenant", tenant.orElse(null))
              .map((row, context) ->
                  new Row(
                      row.getObject("incarnation", UUID.class),
                      row.getString("name"),
                      ProcessId.of(row.getString("process")),
                      Columns.instant(row, "asked_at")))
              .filter(row -> row.process.isDead(here.get()))
              .list();
      if (dead.isEmpty()) {
        return Dead.NOBODY;
      }
      List<UUID> incarnations = dead.stream().map(Row::incarnation).toList();
      List<String> alive =
          handle
              .createQuery(namesakes)
              .bindArray("dead", UUID.class, incarnations)
              .mapTo(String.class)
              .list();
      return new Dead(
          incarnations,
          dead.stream().map(Row::name).distinct().filter(name -> !alive.contains(name)).toList(),
          dead.getFirst().askedAt);
    });
  }

  /** Their leases are dealt with; those who fell silent long ago go, too. */
  public void forget(Dead dead) {
    db.useHandle(handle ->
        handle
            .createUpdate(forget)
            .bindArray("dead", UUID.class, dead.incarnations())
            .bind("tenant", tenant.orElse(null))
            .execute());
  }
}
