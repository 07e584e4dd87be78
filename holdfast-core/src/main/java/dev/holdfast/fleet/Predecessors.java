package dev.holdfast.fleet;

import dev.holdfast.tenant.Db;
import java.time.Instant;
import java.time.OffsetDateTime;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.TreeSet;
import java.util.UUID;
import org.jdbi.v3.core.Handle;

/**
 * Finds workers that ran on this machine and certainly no longer do, so that their leases need not
 * run out first. The only proof is that the process is gone: a name proves nothing, nor does
 * silence.
 */
public final class Predecessors {

  private static final String WITH_PROCESS =
      """
      SELECT worker.incarnation, worker.name, worker.host, worker.process
        FROM {schema}.worker
       WHERE worker.process IS NOT NULL
         AND (:tenant::text IS NULL OR worker.tenant IS NULL OR worker.tenant = :tenant)
       ORDER BY worker.incarnation
      """;

  // A name that another worker has, too, is left alone: it cannot be told whose a lease is.
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

  private static final String NOW =
      """
      SELECT now()
      """;

  /**
   * Workers that are gone.
   *
   * @param incarnations the ids of the dead workers' rows
   * @param dead names of workers whose process is proved dead and whose name no other worker has
   * @param former names of workers that ran here before, and of the worker that asks: what was
   *     leased to them and is no longer, no worker is running
   * @param asOf when they were looked for; what was claimed under their names later belongs to
   *     other workers
   */
  public record Gone(List<UUID> incarnations, List<String> dead, Set<String> former, Instant asOf) {

    public static final Gone NOBODY = new Gone(List.of(), List.of(), Set.of(), Instant.EPOCH);
  }

  private record Row(UUID incarnation, String name, String host, ProcessId process) {}

  private final Db db;
  private final Optional<String> tenant;
  private final String name;
  private final String host;
  private final String withProcess;
  private final String namesakes;
  private final String forget;

  /**
   * The predecessors of one worker.
   *
   * @param tenant the tenant that the worker serves; empty is all
   * @param name the worker's name
   * @param host the worker's host
   */
  public Predecessors(Db control, Optional<String> tenant, String name, String host) {
    this.db = control;
    this.tenant = tenant;
    this.name = name;
    this.host = host;
    this.withProcess = control.sql(WITH_PROCESS);
    this.namesakes = control.sql(NAMESAKES);
    this.forget = control.sql(FORGET);
  }

  public Gone gone() {
    Optional<ProcessId> here = ProcessId.current();
    return db.withHandle(handle -> {
      Instant now = handle.createQuery(NOW).mapTo(OffsetDateTime.class).one().toInstant();
      List<Row> known = here.isPresent() ? known(handle) : List.of();
      List<Row> dead =
          known.stream().filter(row -> row.process.isDead(here.orElseThrow())).toList();
      Set<String> former = new TreeSet<>(Set.of(name));
      known.stream()
          .filter(row -> row.host.equals(host) && row.process.isOfAnotherBoot(here.orElseThrow()))
          .forEach(row -> former.add(row.name));
      dead.forEach(row -> former.add(row.name));
      List<UUID> incarnations = dead.stream().map(Row::incarnation).toList();
      return new Gone(incarnations, unmistakable(handle, dead, incarnations), former, now);
    });
  }

  private List<Row> known(Handle handle) {
    return handle
        .createQuery(withProcess)
        .bind("tenant", tenant.orElse(null))
        .map((row, context) ->
            new Row(
                row.getObject("incarnation", UUID.class),
                row.getString("name"),
                row.getString("host"),
                ProcessId.of(row.getString("process"))))
        .list();
  }

  private List<String> unmistakable(Handle handle, List<Row> dead, List<UUID> incarnations) {
    if (dead.isEmpty()) {
      return List.of();
    }
    List<String> alive =
        handle
            .createQuery(namesakes)
            .bindArray("dead", UUID.class, incarnations)
            .mapTo(String.class)
            .list();
    return dead.stream().map(Row::name).distinct().filter(each -> !alive.contains(each)).toList();
  }

  /**
   * Removes the rows of the dead workers, whose leases have been ended, and of workers that fell
   * silent long ago.
   */
  public void forget(Gone gone) {
    db.useHandle(handle ->
        handle
            .createUpdate(forget)
            .bindArray("dead", UUID.class, gone.incarnations())
            .bind("tenant", tenant.orElse(null))
            .execute());
  }
}
