package dev.holdfast.examples.dailybrief;

import static dev.holdfast.examples.dailybrief.FeedServer.address;
import static dev.holdfast.examples.dailybrief.FeedServer.channel;
import static dev.holdfast.examples.dailybrief.FeedServer.item;
import static dev.holdfast.examples.dailybrief.FeedServer.rss;
import static dev.holdfast.examples.dailybrief.FeedServer.send;
import static org.assertj.core.api.Assertions.assertThat;

import com.sun.net.httpserver.HttpExchange;
import dev.holdfast.examples.dailybrief.RssIngestion.Limits;
import dev.holdfast.job.JobState;
import dev.holdfast.testkit.Covers;
import java.io.IOException;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import java.util.UUID;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** Feeds become articles, each once, whatever the feeds are like. */
class RssIngestionTest extends BriefTest {

  private static final Limits SMALL = new Limits(20_000, 10_000);
  private static final Limits HASTY = new Limits(20_000, 300);

  private final FeedServer server = new FeedServer();

  @AfterEach
  void stopServer() {
    server.close();
  }

  @Covers("D9")
  @Test
  void reading_the_same_feeds_again_changes_nothing() {
    addSource(server.serve("/one", rss("Comet seen over Oslo", "Bridge opens")));
    addSource(server.serve("/two", rss("Bridge opens", "Rain tomorrow")));

    UUID first = run(RssIngestion.KIND.job(SMALL));
    List<Map<String, Object>> rows = articles();
    UUID second = run(RssIngestion.KIND.job(SMALL));

    assertThat(rows)
        .extracting(row -> row.get("url"))
        .containsExactlyInAnyOrder(
            address("Comet seen over Oslo"), address("Bridge opens"), address("Rain tomorrow"));
    assertThat(articles()).isEqualTo(rows);
    assertThat(tenant.job(first).progress().progressCount()).hasValue(3);
    assertThat(tenant.job(second).progress().progressCount()).hasValue(0);
    assertThat(server.asked()).containsExactly("/one", "/two", "/one", "/two");
  }

  @Test
  void an_article_has_what_the_feed_says_about_it() {
    Instant published = Instant.parse("2100-01-01T10:00:00Z");
    addSource(server.serve("/feed", channel(item("Bergen &amp; Oslo", "https://a/1", published))));

    run(RssIngestion.KIND.job(SMALL));

    Map<String, Object> article = articles().getFirst();
    assertThat(article)
        .containsEntry("url", "https://a/1")
        .containsEntry("title", "Bergen & Oslo")
        .containsEntry("summary", "About Bergen & Oslo")
        .containsEntry("epoch", published.getEpochSecond());
    assertThat((String) article.get("content_hash")).matches("[0-9a-f]{64}");
  }

  @Covers("D9")
  @Test
  void a_feed_that_did_not_change_is_not_read_again() {
    AtomicInteger unchanged = new AtomicInteger();
    String modified = "Sun, 01 Nov 2026 10:00:00 GMT";
    addSource(
        server.serve(
            "/feed",
            exchange -> {
              if ("\"v1\"".equals(asked(exchange, "If-None-Match"))
                  && modified.equals(asked(exchange, "If-Modified-Since"))) {
                unchanged.incrementAndGet();
                exchange.sendResponseHeaders(304, -1);
                return;
              }
              exchange.getResponseHeaders().set("ETag", "\"v1\"");
              exchange.getResponseHeaders().set("Last-Modified", modified);
              send(exchange, rss("Bridge opens"));
            }));

    run(RssIngestion.KIND.job(SMALL));
    UUID second = run(RssIngestion.KIND.job(SMALL));

    assertThat(unchanged).hasValue(1);
    assertThat(articles()).hasSize(1);
    assertThat(tenant.job(second).state()).isEqualTo(JobState.SUCCEEDED);
    assertThat(tenant.jobs().log(second)).containsExactly("Stored 0 new articles");
  }

  @Test
  void a_feed_that_could_not_be_parsed_is_asked_for_in_full_the_next_time() {
    AtomicInteger times = new AtomicInteger();
    addSource(
        server.serve(
            "/feed",
            exchange -> {
              exchange.getResponseHeaders().set("ETag", "\"v1\"");
              boolean conditional = exchange.getRequestHeaders().containsKey("If-None-Match");
              boolean first = times.incrementAndGet() == 1;
              send(exchange, first || conditional ? "<rss><channel>" : rss("Bridge opens"));
            }));

    run(RssIngestion.KIND.job(SMALL));
    run(RssIngestion.KIND.job(SMALL));

    assertThat(articles()).hasSize(1);
  }

  @Covers("D9")
  @Test
  void a_feed_that_cannot_be_used_is_skipped_with_a_reason_and_the_others_are_stored() {
    String gone = "http://127.0.0.1:1/feed";
    addSource(server.serve("/cut-short", "<rss version=\"2.0\"><channel><item>"));
    addSource(server.serve("/page", "<html><body>Not a feed</body></html>"));
    addSource(server.serve("/nothing", ""));
    addSource(server.serve("/huge", rss("x".repeat(20_000))));
    addSource(server.serve("/broken", exchange -> exchange.sendResponseHeaders(500, -1)));
    addSource(gone);
    addSource("no address at all");
    addSource("file:///etc/passwd");
    addSource(server.serve("/good", rss("Bridge opens")));

    UUID job = run(RssIngestion.KIND.job(SMALL));

    assertThat(articles()).extracting(row -> row.get("title")).containsExactly("Bridge opens");
    assertThat(tenant.job(job).state()).isEqualTo(JobState.SUCCEEDED);
    assertThat(tenant.job(job).progress().progressCount()).hasValue(1);
    List<String> log = tenant.jobs().log(job);
    assertThat(log).hasSize(9).endsWith("Stored 1 new articles");
    assertSkipped(log.get(0), server.url("/cut-short"), "Invalid XML");
    assertSkipped(log.get(1), server.url("/page"), "not a feed");
    assertSkipped(log.get(2), server.url("/nothing"), "Invalid XML");
    assertSkipped(log.get(3), server.url("/huge"), "larger than 20000 bytes");
    assertSkipped(log.get(4), server.url("/broken"), "answered 500");
    assertSkipped(log.get(5), gone, "Connect");
    assertSkipped(log.get(6), "no address at all", "cannot be asked for");
    assertSkipped(log.get(7), "file:///etc/passwd", "cannot be asked for");
  }

  @Test
  void a_body_without_end_is_given_up_at_the_limit() {
    addSource(
        server.serve(
            "/endless",
            exchange -> {
              exchange.sendResponseHeaders(200, 0);
              try {
                while (true) {
                  exchange.getResponseBody().write(new byte[10_000]);
                }
              } catch (IOException e) {
                // The reader has had enough.
              }
            }));
    addSource(server.serve("/good", rss("Bridge opens")));

    UUID job = run(RssIngestion.KIND.job(SMALL));

    assertThat(tenant.jobs().log(job).getFirst()).contains("larger than 20000 bytes");
    assertThat(articles()).hasSize(1);
  }

  @Covers("D9")
  @Test
  void a_feed_that_takes_too_long_is_skipped_whether_it_is_silent_or_stops_half_way() {
    addSource(server.serve("/silent", exchange -> server.awaitEnd()));
    addSource(server.serveSlowly("/half", "<rss version=\"2.0\"><channel>"));
    addSource(server.serve("/good", rss("Bridge opens")));

    UUID job = run(RssIngestion.KIND.job(HASTY));

    List<String> log = tenant.jobs().log(job);
    assertSkipped(log.get(0), server.url("/silent"), "took longer than 300 ms");
    assertSkipped(log.get(1), server.url("/half"), "took longer than 300 ms");
    assertThat(articles()).hasSize(1);
  }

  @Test
  void entities_of_a_feed_are_neither_fetched_nor_expanded() {
    server.serve("/secret", "secret");
    String fetching =
        "<!DOCTYPE rss [<!ENTITY secret SYSTEM \"%s\">]>".formatted(server.url("/secret"));
    String expanding = "<!DOCTYPE rss [<!ENTITY a \"aaaa\"><!ENTITY b \"&a;&a;&a;&a;\">]>";
    addSource(server.serve("/fetching", withDoctype(fetching, "&secret;")));
    addSource(server.serve("/expanding", withDoctype(expanding, "&b;")));

    UUID job = run(RssIngestion.KIND.job(SMALL));

    assertThat(articles()).isEmpty();
    assertThat(server.asked()).containsExactly("/fetching", "/expanding");
    assertThat(tenant.jobs().log(job).subList(0, 2))
        .allSatisfy(line -> assertThat(line).contains("DOCTYPE"));
  }

  @Test
  void a_feed_that_nests_without_end_does_not_keep_the_others_from_being_stored() {
    String deep = "<a>".repeat(100_000) + "</a>".repeat(100_000);
    addSource(
        server.serve(
            "/deep",
            """
            <feed xmlns="http://www.w3.org/2005/Atom"><title>t</title><entry><title>t</title>
            <content type="xhtml">%s</content></entry></feed>
            """
                .formatted(deep)));
    addSource(server.serve("/good", rss("Bridge opens")));

    UUID job = run(RssIngestion.KIND.job(Limits.DEFAULTS));

    assertThat(tenant.job(job).state()).isEqualTo(JobState.SUCCEEDED);
    assertThat(articles()).extracting(row -> row.get("title")).containsExactly("Bridge opens");
  }

  @Test
  void entries_without_a_usable_address_are_left_out_and_counted() {
    Instant now = Instant.now();
    addSource(
        server.serve(
            "/feed",
            channel(
                item("Script", "javascript:alert(1)", now)
                    + item("Endless", "https://a/" + "x".repeat(2_000), now)
                    + "<item><title>None</title></item>"
                    + item("Good", "https://a/good", now))));

    UUID job = run(RssIngestion.KIND.job(SMALL));

    assertThat(articles()).extracting(row -> row.get("title")).containsExactly("Good");
    assertThat(tenant.jobs().log(job).getFirst()).startsWith("Left out 3 entries of");
  }

  @Test
  void an_article_older_than_what_is_kept_does_not_come_back() {
    Instant old = Instant.now().minus(Duration.ofDays(RetentionCleanup.KEEP_DAYS + 1));
    addSource(server.serve("/feed", channel(item("Old", "https://a/old", old))));

    run(RssIngestion.KIND.job(SMALL));

    assertThat(articles()).isEmpty();
  }

  private static String withDoctype(String doctype, String title) {
    String feed = channel(item(title, "https://a/1", Instant.now()));
    return feed.replaceFirst("<rss", doctype.replace("\\", "\\\\") + "<rss");
  }

  private static String asked(HttpExchange exchange, String header) {
    return String.valueOf(exchange.getRequestHeaders().getFirst(header));
  }

  private static void assertSkipped(String line, String url, String reason) {
    assertThat(line).startsWith("Skipped " + url + ": ").contains(reason);
  }

  private List<Map<String, Object>> articles() {
    return query(
        """
        SELECT id, url, title, summary, content_hash, fetched_at::text AS fetched_at,
               extract(epoch FROM published_at)::bigint AS epoch
          FROM {schema}.raw_articles
         ORDER BY id
        """);
  }
}
