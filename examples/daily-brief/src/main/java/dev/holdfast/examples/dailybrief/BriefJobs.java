package dev.holdfast.examples.dailybrief;

import dev.holdfast.schedule.Schedule;
import dev.holdfast.schedule.Trigger;
import dev.holdfast.worker.WorkerBuilder;
import java.time.Duration;
import java.util.List;

/** The application's jobs: when they are due, and what runs them. */
final class BriefJobs {

  static final Schedule INGESTION =
      Schedule.of(
              "rss_ingestion",
              Trigger.cron("*/15 * * * *"),
              RssIngestion.KIND.job(RssIngestion.Limits.DEFAULTS))
          .withCoalesce(true)
          .withMisfireGrace(Duration.ofMinutes(5));

  static final Schedule CLUSTERING =
      Schedule.of(
              "event_clustering",
              Trigger.cron("5,20,35,50 * * * *"),
              EventClustering.KIND.job(EventClustering.Rule.DEFAULTS))
          .withCoalesce(true)
          .withMisfireGrace(Duration.ofMinutes(5));

  // Once a day, so rather late than a day later.
  static final Schedule CLEANUP =
      Schedule.of(
              "retention_cleanup",
              Trigger.cron("30 3 * * *"),
              RetentionCleanup.KIND.job(RetentionCleanup.Order.DEFAULTS))
          .withCoalesce(true)
          .withMisfireGrace(Duration.ofHours(6));

  static final List<Schedule> SCHEDULES = List.of(INGESTION, CLUSTERING, CLEANUP);

  private BriefJobs() {}

  static WorkerBuilder handledBy(WorkerBuilder worker, BriefDatabase db) {
    return worker
        .handle(RssIngestion.KIND, new RssIngestion(db, new FeedClient()))
        .handle(EventClustering.KIND, new EventClustering(db))
        .handleWithOutcome(RetentionCleanup.KIND, new RetentionCleanup(db));
  }
}
