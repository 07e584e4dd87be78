package dev.holdfast.examples.dailybrief;

import dev.holdfast.job.Failure;
import dev.holdfast.job.Kind;
import dev.holdfast.job.Outcome;
import dev.holdfast.job.Progress;
import dev.holdfast.worker.Handler;
import dev.holdfast.worker.JobContext;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.stream.Stream;
import org.jdbi.v3.core.Handle;

/**
 * Deletes what is old, from the tables that may be cleaned and no others, all of it or nothing.
 * What generated articles were made from stays, and with it the links to its clusters.
 */
final class RetentionCleanup implements Handler<RetentionCleanup.Order> {

  static final Kind<Order> KIND = Kind.of("retention_cleanup", Order.class);

  static final int KEEP_DAYS = 30;

  /**
   * What to clean.
   *
   * @param keepDays what was fetched since stays
   */
  record Order(List<String> tables, int keepDays) {

    static final Order DEFAULTS =
        new Order(Stream.of(Cleanable.values()).map(Cleanable::table).toList(), KEEP_DAYS);

    Order {
      tables = List.copyOf(tables);
      if (keepDays < 1) {
        throw new IllegalArgumentException(keepDays + " days");
      }
    }
  }

  /** The tables that may be cleaned, those that refer to others first. */
  enum Cleanable {
    CLUSTER_ARTICLES(
        """
        WITH gone AS (
          DELETE FROM {schema}.cluster_articles AS link
           USING {schema}.raw_articles AS article
           WHERE article.id = link.raw_article_id
             AND article.fetched_at < now() - :keep_days * interval '1 day'
             AND NOT EXISTS (SELECT FROM {schema}.generated_article_sources AS source
                              WHERE source.raw_article_id = article.id)
          RETURNING link.cluster_id
        ), gone_from AS (
          SELECT cluster_id, count(*) AS links FROM gone GROUP BY cluster_id
        ), counted AS (
          UPDATE {schema}.clusters
             SET article_count = article_count - gone_from.links
            FROM gone_from
           WHERE id = gone_from.cluster_id
        )
        SELECT count(*) FROM gone
        """),
    RAW_ARTICLES(
        """
        WITH gone AS (
          DELETE FROM {schema}.raw_articles AS article
           WHERE fetched_at < now() - :keep_days * interval '1 day'
             AND NOT EXISTS (SELECT FROM {schema}.generated_article_sources AS source
                              WHERE source.raw_article_id = article.id)
             AND NOT EXISTS (SELECT FROM {schema}.cluster_articles AS link
                              WHERE link.raw_article_id = article.id)
          RETURNING id
        )
        SELECT count(*) FROM gone
        """),
    CLUSTERS(
        """
        WITH gone AS (
          DELETE FROM {schema}.clusters AS cluster
           WHERE last_article_at < now() - :keep_days * interval '1 day'
             AND NOT EXISTS (SELECT FROM {schema}.cluster_articles AS link
                              WHERE link.cluster_id = cluster.id)
          RETURNING id
        )
        SELECT count(*) FROM gone
        """);

    private final String delete;

    Cleanable(String delete) {
      this.delete = delete;
    }

    String table() {
      return name().toLowerCase(Locale.ROOT);
    }
  }

  private final BriefDatabase db;

  RetentionCleanup(BriefDatabase db) {
    this.db = db;
  }

  @Override
  public Outcome handle(Order order, JobContext job) {
    List<String> refused =
        order.tables().stream().filter(table -> !Order.DEFAULTS.tables().contains(table)).toList();
    if (!refused.isEmpty()) {
      return Outcome.failed(
          Failure.permanent("TABLE_NOT_ALLOWED", "may not be cleaned: " + refused));
    }
    Map<String, Long> deleted = db.jdbi().inTransaction(handle -> clean(handle, order));
    deleted.forEach((table, rows) -> job.log("Deleted %d rows of %s".formatted(rows, table)));
    job.progress(
        Progress.NONE.withProgressCount(
            deleted.values().stream().mapToLong(Long::longValue).sum()));
    return Outcome.succeeded(job.payload(deleted));
  }

  private Map<String, Long> clean(Handle handle, Order order) {
    db.lockClusters(handle); // before any row, as clustering does
    Map<String, Long> deleted = new LinkedHashMap<>();
    for (Cleanable each : Cleanable.values()) {
      if (order.tables().contains(each.table())) {
        deleted.put(each.table(), delete(handle, each, order.keepDays()));
      }
    }
    return deleted;
  }

  private long delete(Handle handle, Cleanable from, int keepDays) {
    return handle
        .createQuery(db.sql(from.delete))
        .bind("keep_days", keepDays)
        .mapTo(Long.class)
        .one();
  }
}
