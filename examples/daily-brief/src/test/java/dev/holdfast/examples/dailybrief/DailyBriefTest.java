package dev.holdfast.examples.dailybrief;

import static dev.holdfast.examples.dailybrief.FeedServer.address;
import static dev.holdfast.examples.dailybrief.FeedServer.rss;
import static dev.holdfast.examples.dailybrief.FeedServer.send;
import static org.assertj.core.api.Assertions.assertThat;

import com.zaxxer.hikari.HikariConfig;
import com.zaxxer.hikari.HikariDataSource;
import dev.holdfast.testkit.Covers;
import dev.holdfast.testkit.TestDatabase;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicInteger;
import org.jdbi.v3.core.Handle;
import org.jdbi.v3.core.Jdbi;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.parallel.Execution;
import org.junit.jupiter.api.parallel.ExecutionMode;

/** The whole application, in processes of its own, on a database for each test. */
@Execution(ExecutionMode.SAME_THREAD) // or they would start all their processes at once
class DailyBriefTest {

  private static final AtomicInteger NUMBER = new AtomicInteger();

  private static final String[] BRIDGES = {"Bergen bridge opens", "New bridge opens in Bergen"};
  private static final String[] WEATHER = {"Rain expected tomorrow", "Storm reaches the coast"};

  private final String database = "brief_" + NUMBER.incrementAndGet();
  private final String jdbcUrl =
      TestDatabase.shared().jdbcUrl().replaceFirst("/postgres\\b", "/" + database);
  private final FeedServer server = new FeedServer();
  private final HikariDataSource pool = pool(jdbcUrl);

  @BeforeEach
  void createDatabase() {
    onServer("CREATE DATABASE " + database);
  }

  @AfterEach
  void dropDatabase() {
    server.close();
    pool.close();
    onServer("DROP DATABASE " + database + " WITH (FORCE)");
  }

  @Covers("D9")
  @Test
  void it_reads_feeds_finds_events_cleans_up_and_ends_when_told_to() throws Exception {
    String bridges = server.serve("/bridges", rss(BRIDGES));
    String weather = server.serve("/weather", rss(WEATHER));

    try (ChildBrief app = start("--feed", bridges, "--feed", weather, "--run", "rss_ingestion")) {
      end(app, "rss_ingestion");
    }
    try (ChildBrief app = start("--run", "event_clustering", "--run", "retention_cleanup")) {
      end(app, "event_clustering", "retention_cleanup");
    }

    assertThat(urls()).hasSize(4);
    assertThat(query("SELECT article_count FROM daily_brief.clusters ORDER BY 1"))
        .extracting(row -> row.get("article_count"))
        .containsExactly(1, 1, 2);
    assertThat(
            query(
                "SELECT name FROM holdfast_default.schedule WHERE declared_by IS NOT NULL AND enabled"))
        .hasSize(3);
  }

  @Covers("D9")
  @Test
  void killed_between_two_feeds_it_runs_again_and_stores_what_is_missing() throws Exception {
    CountDownLatch killed = new CountDownLatch(1);
    CountDownLatch weatherAsked = new CountDownLatch(1);
    String bridges = server.serve("/bridges", rss(BRIDGES));
    String weather =
        server.serve(
            "/weather",
            exchange -> {
              weatherAsked.countDown();
              if (killed.getCount() > 0) {
                server.awaitEnd();
              } else {
                send(exchange, rss(WEATHER));
              }
            });

    try (ChildBrief app = start("--feed", bridges, "--feed", weather, "--run", "rss_ingestion")) {
      weatherAsked.await();
      app.kill();
      killed.countDown();
    }
    List<String> left = urls();
    runAgain();

    assertThat(left).containsExactly(address(BRIDGES[0]), address(BRIDGES[1]));
    assertThatAllFourAreStored();
  }

  @Covers("D9")
  @Test
  void killed_while_it_stores_a_feed_it_has_stored_nothing_of_it_and_runs_again() throws Exception {
    BriefDatabase db = new BriefDatabase(pool, BriefDatabase.SCHEMA).migrate();
    String weather = server.serve("/weather", rss(WEATHER));
    String bridges =
        server.serve(
            "/bridges",
            exchange -> {
              exchange.getResponseHeaders().set("ETag", "\"v1\"");
              if (exchange.getRequestHeaders().containsKey("If-None-Match")) {
                exchange.sendResponseHeaders(304, -1);
              } else {
                send(exchange, rss(BRIDGES));
              }
            });

    try (Handle other = db.jdbi().open()) {
      other.execute("INSERT INTO daily_brief.rss_sources (rss_url) VALUES (?)", weather);
      other.begin();
      // Whoever stores the second bridge waits to see whether this one is there to stay.
      other.execute(
          """
          INSERT INTO daily_brief.raw_articles (rss_source_id, url, title, summary, content_hash)
          SELECT id, ?, '', '', '' FROM daily_brief.rss_sources
          """,
          address(BRIDGES[1]));
      try (ChildBrief app = start("--feed", bridges, "--run", "rss_ingestion")) {
        app.awaitStartOf("rss_ingestion");
        awaitSomebodyWaiting();
        app.kill();
      }
      other.rollback();
    }
    List<String> left = urls();
    runAgain();

    assertThat(left).containsExactly(address(WEATHER[0]), address(WEATHER[1]));
    assertThatAllFourAreStored();
  }

  private void assertThatAllFourAreStored() {
    assertThat(urls())
        .containsExactly(
            address(BRIDGES[0]), address(BRIDGES[1]), address(WEATHER[0]), address(WEATHER[1]));
    assertThat(query("SELECT error_message FROM holdfast_default.job_runs WHERE status = 'failed'"))
        .containsExactly(Map.of("error_message", "worker_startup_recovery"));
  }

  private ChildBrief start(String... arguments) throws IOException {
    List<String> all = new ArrayList<>();
    all.add("--database-url");
    all.add(jdbcUrl.substring("jdbc:".length()));
    all.addAll(List.of(arguments));
    return ChildBrief.start(all);
  }

  private void runAgain() throws Exception {
    advanceAMinute(); // what the dead one held waits for its time, so let it pass
    try (ChildBrief app = start("--run", "rss_ingestion")) {
      end(app, "rss_ingestion");
    }
  }

  private void advanceAMinute() {
    try (Handle handle = Jdbi.open(pool)) {
      handle.execute(
          """
          CREATE OR REPLACE FUNCTION holdfast_default.clock() RETURNS timestamptz
            LANGUAGE sql STABLE PARALLEL SAFE
            AS $$ SELECT statement_timestamp() + interval '1 minute' $$
          """);
    }
  }

  /** Tells it to end once these have run. */
  private static void end(ChildBrief app, String... schedules) throws Exception {
    app.awaitEndOf(schedules);
    app.terminate();
    app.awaitEnd();
  }

  // A test that waits in vain fails by its timeout.
  private void awaitSomebodyWaiting() {
    String waiting =
        """
        SELECT FROM pg_stat_activity
         WHERE datname = ? AND wait_event_type = 'Lock' AND query LIKE '%raw_articles%'
        """;
    try (Handle handle = Jdbi.open(pool)) {
      while (handle.select(waiting, database).mapToMap().list().isEmpty()) {
        Thread.onSpinWait();
      }
    }
  }

  private List<String> urls() {
    return query("SELECT url FROM daily_brief.raw_articles ORDER BY url COLLATE \"C\"").stream()
        .map(row -> (String) row.get("url"))
        .toList();
  }

  private List<Map<String, Object>> query(String sql) {
    return Jdbi.create(pool).withHandle(handle -> handle.createQuery(sql).mapToMap().list());
  }

  private static HikariDataSource pool(String jdbcUrl) {
    HikariConfig config = new HikariConfig();
    config.setJdbcUrl(jdbcUrl);
    config.setMaximumPoolSize(2);
    config.setMinimumIdle(0); // the database is yet to be created
    config.setInitializationFailTimeout(-1);
    return new HikariDataSource(config);
  }

  private static void onServer(String sql) {
    Jdbi.create(TestDatabase.shared().dataSource()).useHandle(handle -> handle.execute(sql));
  }
}
