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
import java.util.List;
import java.util.Map;
import java.util.Objects;
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
  private final String beat;
  private final Map<UUID, Seen> seen = new ConcurrentHashMap<>();
  private final Set<UUID> spoke = ConcurrentHashMap.newKeySet();
  private volatile OnlineHosts online = OnlineHosts.empty();
  private volatile Set<UUID> draining = Set.of();

  public RemoteWorkers(Db control) {
    this.db = control;
    this.beat = control.sql(BEAT);
  }

  /** Records that a worker has asked for work. */
  public void seen(WorkerInfo worker) {
    seen(new Seen(worker, Optional.empty()));
  }

  /** Records that a worker has sent a sign of life, with its vitals. */
  public void seen(WorkerInfo worker, Payload vitals) {
    seen(new Seen(worker, Optional.of(vitals)));
  }

  private void seen(Seen now) {
    UUID incarnation = incarnation(now.worker.tenant().orElse(""), now.worker.name());
    seen.merge(incarnation, now, (earlier, later) -> later.after(earlier));
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

  private void beat(List<UUID> incarnations) {
    Map<UUID, Seen> some = new TreeMap<>();
    incarnations.forEach(each -> some.put(each, Objects.requireNonNull(seen.get(each))));
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
