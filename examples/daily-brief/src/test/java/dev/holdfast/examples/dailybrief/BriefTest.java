package dev.holdfast.examples.dailybrief;

import dev.holdfast.job.NewJob;
import dev.holdfast.tenant.SchemaName;
import dev.holdfast.testkit.TestDatabase;
import dev.holdfast.testkit.TestTenant;
import dev.holdfast.worker.Worker;
import java.util.List;
import java.util.Map;
import java.util.UUID;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.extension.RegisterExtension;

/** The application's tables in a schema for each test, and a worker that runs its jobs. */
abstract class BriefTest {

  private static final AtomicInteger NUMBER = new AtomicInteger();

  @RegisterExtension final TestTenant tenant = new TestTenant();

  final SchemaName schema = new SchemaName("daily_brief_test_" + NUMBER.incrementAndGet());
  final BriefDatabase db = new BriefDatabase(TestDatabase.shared().dataSource(), schema);

  @BeforeEach
  void createTables() {
    db.migrate();
  }

  @AfterEach
  void dropTables() {
    execute("DROP SCHEMA {schema} CASCADE");
  }

  Worker worker() {
    return BriefJobs.handledBy(tenant.worker(), db).build();
  }

  /** Runs a job to its end. */
  UUID run(NewJob job) {
    UUID id = tenant.jobs().enqueue(job).id();
    worker().runDue();
    return id;
  }

  void addSource(String rssUrl) {
    execute("INSERT INTO {schema}.rss_sources (rss_url) VALUES (?)", rssUrl);
  }

  long addArticle(String title) {
    return number(
        """
        WITH source AS (
          INSERT INTO {schema}.rss_sources (rss_url) VALUES (gen_random_uuid()) RETURNING id
        )
        INSERT INTO {schema}.raw_articles (rss_source_id, url, title, summary, content_hash)
        SELECT id, 'https://news.example.org/' || gen_random_uuid(), ?, '', 'hash' FROM source
        RETURNING id
        """,
        title);
  }

  /** Clusters by their titles, with how many articles they say they have and how many they have. */
  List<Map<String, Object>> clusters() {
    return query(
        """
        SELECT title, article_count, is_closed,
               (SELECT count(*)::integer FROM {schema}.cluster_articles AS link
                 WHERE link.cluster_id = cluster.id) AS links
          FROM {schema}.clusters AS cluster
         ORDER BY title, id
        """);
  }

  void execute(String sql, Object... arguments) {
    db.jdbi().useHandle(handle -> handle.execute(db.sql(sql), arguments));
  }

  List<Map<String, Object>> query(String sql, Object... arguments) {
    return db.jdbi().withHandle(handle -> handle.select(db.sql(sql), arguments).mapToMap().list());
  }

  long number(String sql, Object... arguments) {
    return db.jdbi()
        .withHandle(handle -> handle.select(db.sql(sql), arguments).mapTo(Long.class).one());
  }

  long count(String table) {
    return number("SELECT count(*) FROM {schema}." + table);
  }
}
