package dev.holdfast.examples.dailybrief;

import dev.holdfast.job.Kind;
import dev.holdfast.job.Progress;
import dev.holdfast.worker.Handler;
import dev.holdfast.worker.JobContext;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Optional;
import org.jdbi.v3.core.Handle;

/**
 * Assigns every article that has no cluster to the open one whose title is most like its own, or to
 * a new one. What is assigned is left alone, so it may run again at any time.
 */
final class EventClustering implements Handler.Simple<EventClustering.Rule> {

  static final Kind<Rule> KIND = Kind.of("event_clustering", Rule.class);

  /**
   * What belongs together.
   *
   * @param likeness how much of their words two titles share, 0 to 1
   * @param closeAfterHours a cluster that got nothing for so long is over
   */
  record Rule(double likeness, int closeAfterHours) {

    static final Rule DEFAULTS = new Rule(0.5, 48);

    Rule {
      if (!(likeness > 0 && likeness <= 1) || closeAfterHours < 1) {
        throw new IllegalArgumentException(likeness + ", " + closeAfterHours + " hours");
      }
    }
  }

  private record Cluster(long id, Words words) {}

  private record Unassigned(long id, String title) {}

  // A transaction's worth: clusters are locked meanwhile.
  private static final int AT_ONCE = 500;

  private static final String CLOSE =
      """
      UPDATE {schema}.clusters
         SET is_closed = true
       WHERE NOT is_closed AND last_article_at < now() - :hours * interval '1 hour'
      """;

  private static final String OPEN =
      """
      SELECT id, title FROM {schema}.clusters WHERE NOT is_closed ORDER BY id
      """;

  private static final String UNASSIGNED =
      """
      SELECT id, title
        FROM {schema}.raw_articles AS article
       WHERE NOT EXISTS (SELECT FROM {schema}.cluster_articles AS link
                          WHERE link.raw_article_id = article.id)
       ORDER BY id
       LIMIT :limit
      """;

  private static final String CREATE =
      """
      INSERT INTO {schema}.clusters (title) VALUES (:title) RETURNING id
      """;

  // One statement: what counts an article has linked it, and what did not link it does not count.
  private static final String LINK =
      """
      WITH still_open AS (
        SELECT id FROM {schema}.clusters WHERE id = :cluster AND NOT is_closed FOR UPDATE
      ), linked AS (
        INSERT INTO {schema}.cluster_articles (cluster_id, raw_article_id)
        SELECT id, :article FROM still_open
        ON CONFLICT DO NOTHING
        RETURNING cluster_id
      )
      UPDATE {schema}.clusters
         SET article_count = article_count + 1, last_article_at = now()
        FROM linked
       WHERE id = linked.cluster_id
      """;

  private final BriefDatabase db;

  EventClustering(BriefDatabase db) {
    this.db = db;
  }

  @Override
  public void handle(Rule rule, JobContext job) {
    int closed = db.jdbi().withHandle(handle -> close(handle, rule));
    int assigned = 0;
    int more;
    do {
      if (job.shouldStop()) {
        return;
      }
      more = db.jdbi().inTransaction(handle -> assignSome(handle, rule));
      assigned += more;
      job.progress(Progress.NONE.withProgressCount(assigned));
    } while (more > 0);
    job.log("Assigned %d articles, closed %d clusters".formatted(assigned, closed));
  }

  private int close(Handle handle, Rule rule) {
    return handle.createUpdate(db.sql(CLOSE)).bind("hours", rule.closeAfterHours()).execute();
  }

  private int assignSome(Handle handle, Rule rule) {
    db.lockClusters(handle);
    List<Cluster> open = open(handle);
    int assigned = 0;
    for (Unassigned article : unassigned(handle)) {
      Words words = Words.of(article.title);
      Optional<Cluster> found = mostLike(open, words, rule);
      Cluster cluster =
          found.isPresent() ? found.get() : new Cluster(create(handle, article), words);
      if (found.isEmpty()) {
        open.add(cluster);
      }
      assigned += link(handle, cluster.id, article.id) ? 1 : 0;
    }
    return assigned;
  }

  /** Of equals the oldest. */
  private static Optional<Cluster> mostLike(List<Cluster> open, Words words, Rule rule) {
    return open.stream()
        .filter(cluster -> cluster.words.likeness(words) >= rule.likeness())
        .max(
            Comparator.comparingDouble((Cluster cluster) -> cluster.words.likeness(words))
                .thenComparing(Cluster::id, Comparator.reverseOrder()));
  }

  /** False when it is linked already, or the cluster takes no more. */
  boolean link(Handle handle, long cluster, long article) {
    return handle
            .createUpdate(db.sql(LINK))
            .bind("cluster", cluster)
            .bind("article", article)
            .execute()
        == 1;
  }

  private long create(Handle handle, Unassigned article) {
    return handle.createQuery(db.sql(CREATE)).bind("title", article.title).mapTo(Long.class).one();
  }

  private List<Cluster> open(Handle handle) {
    return new ArrayList<>(
        handle
            .createQuery(db.sql(OPEN))
            .map((row, context) -> new Cluster(row.getLong("id"), Words.of(row.getString("title"))))
            .list());
  }

  private List<Unassigned> unassigned(Handle handle) {
    return handle
        .createQuery(db.sql(UNASSIGNED))
        .bind("limit", AT_ONCE)
        .map((row, context) -> new Unassigned(row.getLong("id"), row.getString("title")))
        .list();
  }
}
