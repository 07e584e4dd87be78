package dev.holdfast.examples.dailybrief;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

import dev.holdfast.examples.dailybrief.EventClustering.Rule;
import dev.holdfast.job.JobState;
import dev.holdfast.testkit.Covers;
import dev.holdfast.worker.Worker;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.UUID;
import java.util.concurrent.Callable;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import org.junit.jupiter.api.Test;

/** Articles about one event get together, each in one cluster and counted once. */
class EventClusteringTest extends BriefTest {

  private static final Rule RULE = Rule.DEFAULTS;

  @Test
  void likeness_is_what_two_titles_share_of_all_their_words() {
    Words bridge = Words.of("The new bridge, at last, opens!");

    assertThat(bridge.likeness(bridge)).isEqualTo(1);
    assertThat(bridge.likeness(Words.of("NEW BRIDGE OPENS"))).isCloseTo(3 / 5.0, within(1e-9));
    assertThat(bridge.likeness(Words.of("Rain"))).isZero();
    assertThat(Words.of("").likeness(Words.of(""))).isZero();
  }

  @Test
  void articles_with_titles_alike_share_a_cluster() {
    addArticle("New bridge opens in Bergen");
    addArticle("Rain expected tomorrow");
    addArticle("Bridge opens in Bergen at last");

    UUID job = run(EventClustering.KIND.job(RULE));

    assertThat(clusters())
        .containsExactly(
            cluster("New bridge opens in Bergen", 2, false),
            cluster("Rain expected tomorrow", 1, false));
    assertThat(tenant.job(job).progress().progressCount()).hasValue(3);
    assertThat(tenant.jobs().log(job)).containsExactly("Assigned 3 articles, closed 0 clusters");
  }

  @Covers("D9")
  @Test
  void clustering_again_changes_nothing() {
    addArticle("New bridge opens in Bergen");
    addArticle("Bridge opens in Bergen at last");
    run(EventClustering.KIND.job(RULE));
    List<Map<String, Object>> before = clusters();
    List<Map<String, Object>> links = query("SELECT * FROM {schema}.cluster_articles");

    UUID again = run(EventClustering.KIND.job(RULE));

    assertThat(clusters()).isEqualTo(before);
    assertThat(query("SELECT * FROM {schema}.cluster_articles")).isEqualTo(links);
    assertThat(tenant.job(again).progress().progressCount()).hasValue(0);
  }

  @Covers("D9")
  @Test
  void a_closed_cluster_takes_no_more() {
    addArticle("New bridge opens in Bergen");
    run(EventClustering.KIND.job(RULE));
    execute("UPDATE {schema}.clusters SET is_closed = true");
    addArticle("New bridge opens in Bergen");

    run(EventClustering.KIND.job(RULE));

    assertThat(clusters())
        .containsExactly(
            cluster("New bridge opens in Bergen", 1, true),
            cluster("New bridge opens in Bergen", 1, false));
  }

  @Test
  void a_cluster_that_was_closed_meanwhile_takes_no_more_either() {
    execute("INSERT INTO {schema}.clusters (title, is_closed) VALUES ('Event', true)");
    long cluster = number("SELECT id FROM {schema}.clusters");
    long article = addArticle("Event");

    boolean linked =
        db.jdbi().withHandle(handle -> new EventClustering(db).link(handle, cluster, article));

    assertThat(linked).isFalse();
    assertThat(clusters()).containsExactly(cluster("Event", 0, true));
  }

  @Test
  void a_cluster_that_got_nothing_for_long_is_closed() {
    addArticle("New bridge opens in Bergen");
    run(EventClustering.KIND.job(RULE));
    execute("UPDATE {schema}.clusters SET last_article_at = now() - interval '49 hours'");

    UUID job = run(EventClustering.KIND.job(RULE));

    assertThat(clusters()).containsExactly(cluster("New bridge opens in Bergen", 1, true));
    assertThat(tenant.jobs().log(job)).containsExactly("Assigned 0 articles, closed 1 clusters");
  }

  @Covers("D9")
  @Test
  void two_clusterings_at_once_make_what_one_makes() throws Exception {
    for (int number = 0; number < 600; number++) { // more than a transaction's worth
      addArticle("Event%d tells about subject%d".formatted(number % 40, number % 40));
    }
    List<UUID> jobs = new ArrayList<>();
    List<Callable<Integer>> workers = new ArrayList<>();
    for (int node = 0; node < 2; node++) {
      jobs.add(tenant.jobs().enqueue(EventClustering.KIND.job(RULE)).id());
      Worker worker = worker();
      workers.add(worker::runDue);
    }

    try (ExecutorService threads = Executors.newFixedThreadPool(2)) {
      for (Future<Integer> ran : threads.invokeAll(workers)) {
        ran.get();
      }
    }

    assertThat(jobs).allMatch(job -> tenant.job(job).state() == JobState.SUCCEEDED);
    assertThat(clusters())
        .hasSize(40)
        .allSatisfy(cluster -> {
          assertThat(cluster).containsEntry("article_count", 15).containsEntry("links", 15);
        });
  }

  @Covers("D9")
  @Test
  void an_article_is_counted_only_when_it_was_linked_however_many_link_it_at_once()
      throws Exception {
    execute("INSERT INTO {schema}.clusters (title) VALUES ('Event')");
    long cluster = number("SELECT id FROM {schema}.clusters");
    List<Long> articles = new ArrayList<>();
    for (int number = 0; number < 20; number++) {
      articles.add(addArticle("Event"));
    }
    EventClustering clustering = new EventClustering(db);
    Callable<Long> linkAll =
        () ->
            articles.stream()
                .filter(article ->
                    db.jdbi().withHandle(handle -> clustering.link(handle, cluster, article)))
                .count();

    long linked = 0;
    try (ExecutorService threads = Executors.newFixedThreadPool(4)) {
      for (Future<Long> part : threads.invokeAll(List.of(linkAll, linkAll, linkAll, linkAll))) {
        linked += part.get();
      }
    }

    assertThat(linked).isEqualTo(20);
    assertThat(clusters()).containsExactly(cluster("Event", 20, false));
  }

  private static Map<String, Object> cluster(String title, int articles, boolean closed) {
    return Map.of(
        "title", title, "article_count", articles, "is_closed", closed, "links", articles);
  }
}
