package dev.holdfast.examples.dailybrief;

import com.rometools.rome.io.FeedException;
import dev.holdfast.examples.dailybrief.FeedClient.Answer;
import dev.holdfast.job.Kind;
import dev.holdfast.job.Progress;
import dev.holdfast.worker.Handler;
import dev.holdfast.worker.JobContext;
import java.time.ZoneOffset;
import java.util.Arrays;
import java.util.List;
import java.util.Optional;
import org.jdbi.v3.core.Handle;
import org.jdbi.v3.core.mapper.RowMapper;
import org.jdbi.v3.core.statement.PreparedBatch;

/**
 * Reads every feed and stores the articles whose address is new. It may run again at any time: what
 * is there is left alone.
 */
final class RssIngestion implements Handler.Simple<RssIngestion.Limits> {

  static final Kind<Limits> KIND = Kind.of("rss_ingestion", Limits.class);

  /**
   * What one feed may cost us.
   *
   * @param mostMillis from the question to the last byte
   */
  record Limits(int mostBytes, int mostMillis) {

    static final Limits DEFAULTS = new Limits(2 * 1024 * 1024, 10_000);

    Limits {
      if (mostBytes < 1 || mostMillis < 1) {
        throw new IllegalArgumentException(mostBytes + " bytes, " + mostMillis + " ms");
      }
    }
  }

  private static final String SOURCES =
      """
      SELECT id, rss_url, etag, last_modified
        FROM {schema}.rss_sources
       ORDER BY id
      """;

  private static final String INSERT =
      """
      INSERT INTO {schema}.raw_articles
                  (rss_source_id, url, title, summary, content_hash, published_at)
      SELECT :source, :url, :title, :summary, :content_hash, :published_at::timestamptz
       -- An old one that a feed still lists may be one that retention has deleted.
       WHERE :published_at::timestamptz IS NULL
          OR :published_at::timestamptz > now() - :keep_days * interval '1 day'
      ON CONFLICT (url) DO NOTHING
      """;

  private static final String REMEMBER =
      """
      UPDATE {schema}.rss_sources
         SET etag = :etag, last_modified = :last_modified
       WHERE id = :id
      """;

  private static final RowMapper<Source> SOURCE =
      (row, context) ->
          new Source(
              row.getLong("id"),
              row.getString("rss_url"),
              Optional.ofNullable(row.getString("etag")),
              Optional.ofNullable(row.getString("last_modified")));

  private final BriefDatabase db;
  private final FeedClient client;

  RssIngestion(BriefDatabase db, FeedClient client) {
    this.db = db;
    this.client = client;
  }

  @Override
  public void handle(Limits limits, JobContext job) throws InterruptedException {
    int stored = 0;
    for (Source source : sources()) {
      if (job.shouldStop()) {
        return; // what is stored stays, and the next run reads the rest
      }
      stored += ingest(source, limits, job);
      job.progress(Progress.NONE.withProgressCount(stored));
    }
    job.log("Stored %d new articles".formatted(stored));
  }

  private int ingest(Source source, Limits limits, JobContext job) throws InterruptedException {
    return switch (client.fetch(source, limits)) {
      case Answer.NotModified() -> 0;
      case Answer.Unusable(String reason) -> skip(source, reason, job);
      case Answer.Changed changed -> {
        try {
          yield store(source, Feed.parse(changed.body()), changed, job);
        } catch (FeedException e) {
          yield skip(source, String.valueOf(e.getMessage()), job);
        }
      }
    };
  }

  private static int skip(Source source, String reason, JobContext job) {
    job.log("Skipped %s: %s".formatted(source.rssUrl(), reason));
    return 0;
  }

  private int store(Source source, Feed feed, Answer.Changed changed, JobContext job) {
    if (feed.leftOut() > 0) {
      job.log(
          "Left out %d entries of %s that have no usable address"
              .formatted(feed.leftOut(), source.rssUrl()));
    }
    // Batcher: were the tag stored alone, the server would not give us these articles again.
    return db.jdbi()
        .inTransaction(handle -> {
          int stored = insert(handle, source, feed.articles());
          remember(handle, source, changed);
          return stored;
        });
  }

  private int insert(Handle handle, Source source, List<Article> articles) {
    if (articles.isEmpty()) {
      return 0;
    }
    PreparedBatch batch = handle.prepareBatch(db.sql(INSERT));
    for (Article article : articles) {
      batch
          .bind("source", source.id())
          .bind("url", article.url())
          .bind("title", article.title())
          .bind("summary", article.summary())
          .bind("content_hash", article.contentHash())
          .bind(
              "published_at",
              article.publishedAt().map(moment -> moment.atOffset(ZoneOffset.UTC)).orElse(null))
          .bind("keep_days", RetentionCleanup.KEEP_DAYS)
          .add();
    }
    return Arrays.stream(batch.execute()).sum();
  }

  private void remember(Handle handle, Source source, Answer.Changed changed) {
    handle
        .createUpdate(db.sql(REMEMBER))
        .bind("id", source.id())
        .bind("etag", changed.etag().orElse(null))
        .bind("last_modified", changed.lastModified().orElse(null))
        .execute();
  }

  private List<Source> sources() {
    return db.jdbi().withHandle(handle -> handle.createQuery(db.sql(SOURCES)).map(SOURCE).list());
  }
}
