package dev.holdfast.examples.dailybrief;

import static dev.holdfast.examples.dailybrief.FeedServer.rss;
import static org.assertj.core.api.Assertions.assertThat;

import dev.holdfast.testkit.Covers;
import dev.holdfast.worker.Worker;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.concurrent.Callable;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** The application on two nodes, each with a scheduler and a worker. */
class OneRunPerSlotTest extends BriefTest {

  private final FeedServer server = new FeedServer();
  private final ExecutorService threads = Executors.newFixedThreadPool(2);

  @BeforeEach
  void declare() {
    addSource(server.serve("/feed", rss("New bridge opens", "Rain tomorrow", "Bridge opens")));
    tenant.schedules().declare("daily-brief", BriefJobs.SCHEDULES);
  }

  @AfterEach
  void stop() {
    threads.close();
    server.close();
  }

  @Covers("D9")
  @Test
  void two_workers_and_two_schedulers_run_every_slot_once() throws Exception {
    List<Callable<Duration>> ticks =
        List.of(tenant.scheduler()::runOnce, tenant.scheduler()::runOnce);
    List<Callable<Integer>> works = List.of(node("one")::runDue, node("two")::runDue);

    for (int slot = 0; slot < 10; slot++) {
      advanceTo("rss_ingestion", "event_clustering");
      atOnce(ticks);
      atOnce(works);
    }
    advanceTo("retention_cleanup");
    atOnce(ticks);
    atOnce(works);

    assertThat(runs("rss_ingestion")).hasSizeGreaterThanOrEqualTo(5);
    assertThat(runs("event_clustering")).hasSizeGreaterThanOrEqualTo(4);
    assertThat(runs("retention_cleanup")).isNotEmpty();
    assertThat(server.asked()).hasSize(runs("rss_ingestion").size());
    assertThat(count("raw_articles")).isEqualTo(3);
    assertThat(clusters()).hasSize(2);
    assertThat(tenant.invariants().check()).isEmpty();
  }

  private Worker node(String name) {
    return BriefJobs.handledBy(tenant.worker(), db)
        .configure(config -> config.withName(name))
        .build();
  }

  /** Moves the clock to the first moment at which one of them is due. */
  private void advanceTo(String... schedules) {
    Object seconds =
        tenant
            .query(
                """
                SELECT ceil(extract(epoch FROM min(next_at) - {schema}.clock()))::bigint AS seconds
                  FROM {schema}.schedule
                 WHERE name IN ('%s')
                """
                    .formatted(String.join("', '", schedules)))
            .getFirst()
            .get("seconds");
    tenant.advance(Duration.ofSeconds(Long.parseLong(String.valueOf(seconds))));
  }

  private <T> void atOnce(List<Callable<T>> calls) throws Exception {
    for (Future<T> call : threads.invokeAll(calls)) {
      call.get();
    }
  }

  /** The slots that were run, which all went well. */
  private List<Object> runs(String schedule) {
    List<Map<String, Object>> runs =
        tenant.query(
            """
            SELECT scheduled_for::text AS slot, status
              FROM {schema}.job_runs
             WHERE job_name = '%s'
            """
                .formatted(schedule));
    assertThat(runs).extracting(run -> run.get("status")).containsOnly("success");
    List<Object> slots = runs.stream().map(run -> run.get("slot")).toList();
    assertThat(slots).doesNotHaveDuplicates();
    return slots;
  }
}
