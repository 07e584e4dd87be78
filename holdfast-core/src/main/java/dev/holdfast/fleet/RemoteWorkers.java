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
 * Shows workers that speak to this process to the others: whoever asked for work since the last
 * round has beaten. A few statements a round, however many they are. Thread-safe.
 */
public final class RemoteWorkers implements Loop.Step {

  private static final Duration PERIOD = Duration.ofSeconds(5);

  // Each may say a megabyte of itself, and one statement takes no more than a thousand of these.
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
      """;

  private static final String DRAINING =
      """
      SELECT incarnation FROM {schema}.worker WHERE drain_requested_at IS NOT NULL
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

    // Few requests bring them, and the next one must not take them away.
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

  /** A worker has asked for work. */
  public void seen(WorkerInfo worker) {
    seen(new Seen(worker, Optional.empty()));
  }

  /** A worker says that it is there, and how it is. */
  public void seen(WorkerInfo worker, Payload vitals) {
    seen(new Seen(worker, Optional.of(vitals)));
  }

  private void seen(Seen now) {
    UUID incarnation = incarnation(now.worker.tenant().orElse(""), now.worker.name());
    seen.merge(incarnation, now, (earlier, later) -> later.after(earlier));
  }

  /** A worker has reported; what it is, it said when it asked for work, here or elsewhere. */
  public void spoke(TenantName tenant, String worker) {
    spoke.add(incarnation(tenant.value(), worker));
  }

  /** Whether somebody asked that it be given nothing more; heard within seconds. */
  public boolean isDraining(TenantName tenant, String worker) {
    return draining.contains(incarnation(tenant.value(), worker));
  }

  // Nobody can tell a remote worker from its next life: its name within its tenant is all there is.
  private static UUID incarnation(String tenant, String name) {
    return UUID.nameUUIDFromBytes((tenant + "/" + name).getBytes(StandardCharsets.UTF_8));
  }

  /** Those that a tenant's workers are on. */
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
    online =
        db.withHandle(handle ->
            handle
                .createQuery(db.sql(ONLINE))
                .bind("absent_ms", Presence.ABSENT_AFTER.toMillis())
                .reduceRows(OnlineHosts.empty(), OnlineHosts::add));
    draining =
        db.withHandle(
            handle -> handle.createQuery(db.sql(DRAINING)).mapTo(UUID.class).collectIntoSet());
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
