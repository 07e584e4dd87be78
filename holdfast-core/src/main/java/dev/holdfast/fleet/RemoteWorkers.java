package dev.holdfast.fleet;

import dev.holdfast.codec.Codec;
import dev.holdfast.codec.JacksonCodec;
import dev.holdfast.job.Payload;
import dev.holdfast.job.Placement;
import dev.holdfast.loop.Loop;
import dev.holdfast.tenant.Db;
import dev.holdfast.tenant.TenantName;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.UUID;
import java.util.concurrent.ConcurrentHashMap;
import org.jspecify.annotations.Nullable;

/**
 * Registers the remote workers that send requests to this process: a worker that did so since the
 * last round counts as alive. A few statements per round, however many workers there are.
 * Thread-safe.
 */
public final class RemoteWorkers implements Loop.Step {

  /**
   * How many names the workers of one tenant may have. All tenants' are in one table, and whoever
   * has a worker's token may make up names.
   */
  public static final int MOST = 10_000;

  private static final Duration PERIOD = Duration.ofSeconds(5);

  // A worker may send a megabyte about itself, and one statement takes at most a thousand of those.
  private static final int AT_ONCE = 200;

  // Sorted by key, or two nodes that know the same workers could wait for each other.
  private static final String BEAT =
      """
      WITH beat AS (
        INSERT INTO {schema}.worker (incarnation, name, host, labels, tenant, queues, kinds,
                                     info)
        SELECT incarnation, name, host, labels, tenant, queues, kinds, info::json
          FROM json_to_recordset(:seen::json)
            AS seen (incarnation uuid, name text, host text, labels text[], tenant text,
                     queues text[], kinds text[], info text)
         ORDER BY incarnation
        ON CONFLICT (incarnation) DO UPDATE
           SET beat_at = now(), host = excluded.host, labels = excluded.labels,
               queues = excluded.queues, kinds = excluded.kinds,
               info = coalesce(excluded.info, worker.info)
      ), spoke AS (
        SELECT incarnation
          FROM {schema}.worker
         WHERE incarnation = ANY (:spoke)
           FOR UPDATE SKIP LOCKED -- whoever has it is beating for it
      )
      UPDATE {schema}.worker
         SET beat_at = now()
        FROM spoke
       WHERE worker.incarnation = spoke.incarnation
      """;

  private static final String ONLINE =
      """
      SELECT DISTINCT tenant, host
        FROM {schema}.worker
       WHERE beat_at > now() - :absent_ms * interval '1 millisecond'
         AND drain_requested_at IS NULL
      """;

  private static final String DRAINING =
      """
      SELECT incarnation FROM {schema}.worker WHERE drain_requested_at IS NOT NULL
      """;

  // Workers on the database have a process, and a new incarnation with each.
  private static final String KNOWN =
      """
      SELECT tenant, incarnation FROM {schema}.worker WHERE tenant IS NOT NULL AND process IS NULL
      """;

  // Of workers on the database, too: they remove such rows only when one of them starts
  // (Predecessors), and here perhaps none ever does again.
  private static final String FORGET =
      """
      WITH silent AS MATERIALIZED (
        SELECT incarnation
          FROM {schema}.worker
         WHERE beat_at < now() - interval '1 day'
           FOR UPDATE SKIP LOCKED
      )
      DELETE FROM {schema}.worker
       WHERE incarnation = ANY (ARRAY (SELECT incarnation FROM silent))
      """;

  private record Row(
      UUID incarnation,
      String name,
      String host,
      List<String> labels,
      @Nullable String tenant,
      Set<String> queues,
      @Nullable Set<String> kinds,
      @Nullable String info) {}

  private record Seen(WorkerInfo worker, Optional<Payload> vitals) {

    // Few requests bring vitals, and a request without them must not remove those of an earlier
    // one.
    Seen after(Seen earlier) {
      return vitals.isPresent() ? this : new Seen(worker, earlier.vitals);
    }
  }

  private final Codec json = new JacksonCodec();
  private final Db db;
  private final Roster roster;
  private final String beat;
  private final Map<UUID, Seen> seen = new ConcurrentHashMap<>();
  private final Set<UUID> spoke = ConcurrentHashMap.newKeySet();
  private volatile OnlineHosts online = OnlineHosts.empty();
  private volatile Set<UUID> draining = Set.of();

  public RemoteWorkers(Db control) {
    this(control, MOST);
  }

  /**
   * The same, with another limit.
   *
   * @param most how many names the workers of one tenant may have; one that is silent for a day is
   *     forgotten
   */
  RemoteWorkers(Db control, int most) {
    this.db = control;
    this.roster = new Roster(most);
    this.beat = control.sql(BEAT);
  }

  /**
   * Records that a worker has asked for work.
   *
   * @return false if its name is new, and its tenant has {@link #MOST}: nothing is recorded. Such a
   *     worker can be served all the same; it is not listed, and cannot be asked to drain
   */
  public boolean seen(WorkerInfo worker) {
    return seen(new Seen(worker, Optional.empty()));
  }

  /** The same with a sign of life, and the worker's vitals. */
  public boolean seen(WorkerInfo worker, Payload vitals) {
    return seen(new Seen(worker, Optional.of(vitals)));
  }

  private boolean seen(Seen now) {
    String tenant = now.worker.tenant().orElse("");
    UUID incarnation = incarnation(tenant, now.worker.name());
    if (!roster.admits(tenant, incarnation)) {
      return false;
    }
    seen.merge(incarnation, now, (earlier, later) -> later.after(earlier));
    return true;
  }

  /** Forgets who was seen of a tenant that is dropped, so that nothing is stored of them. */
  public void forget(TenantName tenant) {
    seen.values().removeIf(each -> each.worker.tenant().equals(Optional.of(tenant.value())));
  }

  /**
   * Records that a worker has reported. It described itself when it asked for work, to this process
   * or another.
   */
  public void spoke(TenantName tenant, String worker) {
    spoke.add(incarnation(tenant.value(), worker));
  }

  /**
   * Whether the worker is to be given nothing more; known within seconds after an operator asked.
   */
  public boolean isDraining(TenantName tenant, String worker) {
    return draining.contains(incarnation(tenant.value(), worker));
  }

  // A remote worker cannot be told from its next process: its name within its tenant is all that
  // identifies it.
  private static UUID incarnation(String tenant, String name) {
    return UUID.nameUUIDFromBytes((tenant + "/" + name).getBytes(StandardCharsets.UTF_8));
  }

  /** The hosts that have a live worker for a tenant, one that is not to drain. */
  public Hosts hostsOf(TenantName tenant) {
    return () -> online.of(tenant);
  }

  @Override
  public Duration runOnce() {
    List<UUID> round = new ArrayList<>(new TreeMap<>(seen).keySet());
    int from = 0;
    do {
      int to = Math.min(from + AT_ONCE, round.size());
      beat(round.subList(from, to));
      from = to;
    } while (from < round.size());
    db.useHandle(handle -> handle.createUpdate(db.sql(FORGET)).execute());
    roster.stored(known(), Set.copyOf(seen.keySet()));
    Set<UUID> asked =
        db.withHandle(
            handle -> handle.createQuery(db.sql(DRAINING)).mapTo(UUID.class).collectIntoSet());
    online =
        db.withHandle(handle ->
            handle
                .createQuery(db.sql(ONLINE))
                .bind("absent_ms", Presence.ABSENT_AFTER.toMillis())
                .reduceRows(OnlineHosts.empty(), OnlineHosts::add));
    draining = asked; // last: whoever is known to drain is not online any more
    return PERIOD;
  }

  private Map<String, Set<UUID>> known() {
    return db.withHandle(handle ->
        handle
            .createQuery(db.sql(KNOWN))
            .reduceRows(
                new HashMap<>(),
                (all, row) -> {
                  all.computeIfAbsent(row.getColumn("tenant", String.class), key -> new HashSet<>())
                      .add(row.getColumn("incarnation", UUID.class));
                  return all;
                }));
  }

  private void beat(List<UUID> incarnations) {
    Map<UUID, Seen> some = new TreeMap<>();
    for (UUID each : incarnations) {
      Seen found = seen.get(each);
      if (found != null) { // its tenant may have been dropped since
        some.put(each, found);
      }
    }
    Set<UUID> alsoThere = new TreeSet<>(spoke);
    alsoThere.removeAll(some.keySet()); // one statement must not write a row twice
    List<Row> rows = new ArrayList<>();
    some.forEach((incarnation, each) -> rows.add(row(incarnation, each)));
    db.useHandle(handle ->
        handle
            .createUpdate(beat)
            .bind("seen", json.encode(rows))
            .bindArray("spoke", UUID.class, alsoThere)
            .execute());
    some.forEach(seen::remove);
    spoke.removeAll(some.keySet());
    spoke.removeAll(alsoThere);
  }

  private static Row row(UUID incarnation, Seen seen) {
    WorkerInfo worker = seen.worker;
    return new Row(
        incarnation,
        worker.name(),
        worker.host(),
        List.of(Placement.stored(worker.labels())),
        worker.tenant().orElse(null),
        worker.queues(),
        worker.kinds().orElse(null),
        seen.vitals.map(Payload::json).orElse(null));
  }
}
