package dev.holdfast.server.poll;

import dev.holdfast.tenant.Db;
import dev.holdfast.tenant.Tenant;
import dev.holdfast.tenant.TenantName;
import java.time.Duration;
import java.util.Map;
import java.util.OptionalLong;
import java.util.concurrent.ConcurrentHashMap;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Tells streams and pages whether something may have changed in a tenant. It is only a hint,
 * refreshed at most once a second, whatever the number of callers. It reads PostgreSQL's own counts
 * of written rows, so it adds no cost to writes. Thread-safe.
 */
public final class Hints {

  private static final Logger log = LoggerFactory.getLogger(Hints.class);

  private static final Duration LEAST = Duration.ofSeconds(1);

  // A session that goes idle after a write reports its counts a little late.
  private static final String WRITTEN =
      """
      SELECT sum(pg_stat_get_tuples_inserted(relation) + pg_stat_get_tuples_updated(relation)
                 + pg_stat_get_tuples_deleted(relation))
        FROM unnest(ARRAY['{schema}.job', '{schema}.job_done', '{schema}.slot', '{schema}.audit',
                          '{schema}.queue', '{schema}.hold', '{schema}.block']::regclass[])
          AS relation
      """;

  private record Seen(long written, long number, long atNanos) {

    Seen after(Seen looked) {
      long next = looked.written == written ? number : number + 1;
      return new Seen(looked.written, next, looked.atNanos);
    }
  }

  private final Map<TenantName, Seen> seen = new ConcurrentHashMap<>();

  /** A number that differs from an earlier one if something has changed in between. */
  public long number(Tenant tenant) {
    Seen before = seen.get(tenant.name());
    long now = System.nanoTime();
    if (before != null && now - before.atNanos < LEAST.toNanos()) {
      return before.number;
    }
    // Outside of a map operation, because that could make other tenants wait for the database.
    OptionalLong written = written(tenant.db());
    return seen.merge(
            tenant.name(),
            new Seen(written.orElse(-1), 0, now),
            (known, looked) -> written.isPresent() ? known.after(looked) : known)
        .number;
  }

  private static OptionalLong written(Db db) {
    try {
      return OptionalLong.of(
          db.withHandle(handle -> handle.createQuery(db.sql(WRITTEN)).mapTo(Long.class).one()));
    } catch (RuntimeException e) {
      log.debug("Could not look for changes", e);
      return OptionalLong.empty();
    }
  }
}
