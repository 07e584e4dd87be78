package dev.holdfast.examples.dailybrief;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.holdfast.examples.dailybrief.RetentionCleanup.Order;
import dev.holdfast.job.JobState;
import dev.holdfast.testkit.Covers;
import java.util.List;
import java.util.UUID;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** What is old goes, unless something that people read was made from it. */
class RetentionCleanupTest extends BriefTest {

  private static final String BRIDGE = "New bridge opens in Bergen";
  private static final String RAIN = "Rain expected tomorrow";

  /** Two old articles about a bridge, an old and a new one about rain, all in their clusters. */
  @BeforeEach
  void addOldAndNew() {
    addArticle(BRIDGE);
    addArticle(BRIDGE);
    addArticle(RAIN);
    run(EventClustering.KIND.job(EventClustering.Rule.DEFAULTS));
    execute("UPDATE {schema}.raw_articles SET fetched_at = now() - interval '31 days'");
    addArticle(RAIN);
    run(EventClustering.KIND.job(EventClustering.Rule.DEFAULTS));
    execute(
        """
        UPDATE {schema}.clusters SET last_article_at = now() - interval '31 days' WHERE title = ?
        """,
        BRIDGE);
  }

  @Covers("D9")
  @Test
  void what_is_old_goes_and_the_counts_are_logged_and_reported() {
    UUID job = run(RetentionCleanup.KIND.job(Order.DEFAULTS));

    assertThat(tenant.jobs().log(job))
        .containsExactly(
            "Deleted 3 rows of cluster_articles",
            "Deleted 3 rows of raw_articles",
            "Deleted 1 rows of clusters");
    assertThat(tenant.job(job).progress().progressCount()).hasValue(7);
    assertThat(tenant.job(job).result().orElseThrow().json())
        .contains("\"raw_articles\":3", "\"clusters\":1");
    assertThat(query("SELECT title FROM {schema}.raw_articles"))
        .extracting(row -> row.get("title"))
        .containsExactly(RAIN);
    assertThat(clusters())
        .singleElement()
        .satisfies(left -> {
          assertThat(left).containsEntry("title", RAIN);
          assertThat(left).containsEntry("article_count", 1).containsEntry("links", 1);
        });
  }

  @Covers("D9")
  @Test
  void cleaning_again_deletes_nothing_more() {
    run(RetentionCleanup.KIND.job(Order.DEFAULTS));

    UUID again = run(RetentionCleanup.KIND.job(Order.DEFAULTS));

    assertThat(tenant.job(again).state()).isEqualTo(JobState.SUCCEEDED);
    assertThat(tenant.job(again).progress().progressCount()).hasValue(0);
    assertThat(count("raw_articles")).isEqualTo(1);
  }

  @Covers("D9")
  @Test
  void what_generated_articles_were_made_from_stays_with_its_cluster() {
    execute(
        """
        INSERT INTO {schema}.generated_article_sources
        SELECT 1, min(id) FROM {schema}.raw_articles WHERE title = ?
        """,
        BRIDGE);

    run(RetentionCleanup.KIND.job(Order.DEFAULTS));

    assertThat(query("SELECT title FROM {schema}.raw_articles ORDER BY title"))
        .extracting(row -> row.get("title"))
        .containsExactly(BRIDGE, RAIN);
    assertThat(clusters())
        .hasSize(2)
        .allSatisfy(cluster -> {
          assertThat(cluster).containsEntry("article_count", 1).containsEntry("links", 1);
        });
    assertThat(count("generated_article_sources")).isEqualTo(1);
  }

  @Covers("D9")
  @ParameterizedTest
  @ValueSource(strings = {"rss_sources", "generated_article_sources", "clusters; DROP TABLE x"})
  void a_table_that_may_not_be_cleaned_is_refused_and_nothing_is_deleted(String table) {
    UUID job = run(RetentionCleanup.KIND.job(new Order(List.of("cluster_articles", table), 30)));

    assertThat(tenant.job(job).state()).isEqualTo(JobState.FAILED);
    assertThat(tenant.job(job).errorCode()).contains("TABLE_NOT_ALLOWED");
    assertThat(tenant.job(job).errorMessage().orElseThrow()).contains(table);
    assertThat(count("cluster_articles")).isEqualTo(4);
    assertThat(count("rss_sources")).isEqualTo(4);
  }

  @Test
  void only_the_tables_that_were_named_are_cleaned() {
    UUID job = run(RetentionCleanup.KIND.job(new Order(List.of("raw_articles"), 30)));

    // All old ones are in clusters, whose links were not to be touched.
    assertThat(tenant.jobs().log(job)).containsExactly("Deleted 0 rows of raw_articles");
    assertThat(count("raw_articles")).isEqualTo(4);
  }

  @Covers("D9")
  @Test
  void an_error_in_the_middle_takes_everything_back() {
    execute(
        """
        CREATE TRIGGER no_deletion BEFORE DELETE ON {schema}.clusters
          FOR EACH ROW EXECUTE FUNCTION {schema}.refuse_change()
        """);

    UUID job = run(RetentionCleanup.KIND.job(Order.DEFAULTS));

    assertThat(tenant.job(job).errorMessage().orElseThrow()).contains("clusters is immutable");
    assertThat(count("cluster_articles")).isEqualTo(4);
    assertThat(count("raw_articles")).isEqualTo(4);
    assertThat(clusters())
        .hasSize(2)
        .allSatisfy(cluster -> {
          assertThat(cluster.get("article_count")).isEqualTo(cluster.get("links"));
        });
  }

  @Test
  void what_generated_articles_were_made_from_cannot_be_changed_or_deleted_by_anybody() {
    execute(
        """
        INSERT INTO {schema}.generated_article_sources SELECT 1, min(id) FROM {schema}.raw_articles
        """);

    assertRefused("UPDATE {schema}.generated_article_sources SET generated_article_id = 2");
    assertRefused("DELETE FROM {schema}.generated_article_sources");
    assertRefused("TRUNCATE {schema}.generated_article_sources");
    execute("DELETE FROM {schema}.cluster_articles");
    assertThatThrownBy(() -> execute("DELETE FROM {schema}.raw_articles"))
        .hasMessageContaining("generated_article_sources");
  }

  private void assertRefused(String sql) {
    assertThatThrownBy(() -> execute(sql)).hasMessageContaining("is immutable");
  }
}
