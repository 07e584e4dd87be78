package dev.holdfast.server.poll;

import dev.holdfast.tenant.Db;
import dev.holdfast.tenant.Tenant;
import dev.holdfast.tenant.TenantName;
import java.time.Duration;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Whether anything has changed in a tenant, for those who look at it. Only a hint, at most once a
 * second, however many look: told by the server's own counts of what was written, which cost the
 * work nothing. Thread-safe.
 */
public final class Hints {

  private static final Logger log = LoggerFactory.getLogger(Hints.class);

  private static final Duration LEAST = Duration.ofSeconds(1);

  // A count is a little late where the one who wrote has nothing more to do.
  private static final String WRITTEN =
      """
      SELECT sum(pg_stat_get_tuples_inserted(relation) + pg_stat_get_tuples_updated(relation)
                 + pg_stat_get_tuples_deleted(relation))
        FROM unnest(ARRAY['{schema}.job', '{schema}.job_done', '{schema}.slot', '{schema}.audit',
                          '{schema}.queue', '{schema}.hold', '{schema}.block']::regclass[])
          AS relation
      """;

  private record Seen(long written, long number, long atNanos) {}

  private final Map<TenantName, Seen> seen = new ConcurrentHashMap<>();

  /** A number that is another when something has changed since. */
  public long number(Tenant tenant) {
    return seen.compute(tenant.name(), (name, before) -> look(tenant, before)).number;
  }

  private static Seen look(Tenant tenant, @Nullable Seen before) {
    long now = System.nanoTime();
    if (before != null && now - before.atNanos < LEAST.toNanos()) {
      return before;
    }
    long written = written(tenant.db());
    if (before == null) {
      return new Seen(written, 0, now);
    }
    return new Seen(written, written == before.written ? before.number : before.number + 1, now);
  }

  private static long written(Db db) {
    try {
      return db.withHandle(handle -> handle.createQuery(db.sql(WRITTEN)).mapTo(Long.class).one());
    } catch (RuntimeException e) {
      log.debug("Could not look for changes", e);
      return -1;
    }
  }
}
