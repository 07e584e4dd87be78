package dev.holdfast.server.ui;

import static dev.holdfast.server.http.Route.Method.GET;

import dev.holdfast.Holdfast;
import dev.holdfast.fleet.WorkerState;
import dev.holdfast.invariant.Violation;
import dev.holdfast.job.JobState;
import dev.holdfast.overview.Overview;
import dev.holdfast.overview.Overview.Count;
import dev.holdfast.overview.Overview.Failures;
import dev.holdfast.overview.Overview.HoldAges;
import dev.holdfast.overview.Overview.Oldest;
import dev.holdfast.overview.Overview.Standing;
import dev.holdfast.overview.Overview.Waits;
import dev.holdfast.queue.QueueState;
import dev.holdfast.server.auth.Role;
import dev.holdfast.server.http.Answer;
import dev.holdfast.server.http.Request;
import dev.holdfast.server.http.Route;
import dev.holdfast.server.tenancy.TenantServices;
import dev.holdfast.server.ui.Chart.Series;
import dev.holdfast.server.ui.RecentActivity.Beat;
import java.time.Duration;
import java.time.Instant;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.function.ToDoubleFunction;

/** The page that shows a tenant at a glance. */
final class OverviewPage {

  private static final Duration FAILURES_OF = Duration.ofHours(24);
  private static final int BEATS = 180;
  private static final int QUEUES = 8;
  private static final int QUEUES_READ = 50;
  private static final int WORKERS = 200;

  /** What the template shows. */
  record View(
      Frame frame,
      Map<JobState, Count> counts,
      List<QueueState> queues,
      boolean moreQueues,
      Chart throughput,
      Chart waits,
      Optional<Oldest> oldest,
      List<WorkerState> workers,
      HoldAges holds,
      List<Standing> blocks,
      List<Violation> violations,
      List<Failures> failures) {

    long online() {
      return workers.stream().filter(WorkerState::online).count();
    }

    boolean isNew() {
      return counts.values().stream().allMatch(count -> count.jobs() == 0 && count.exact());
    }

    long jobs(JobState state) {
      return counts.getOrDefault(state, new Count(0, true)).jobs();
    }

    long held() {
      return holds.minute() + holds.tenMinutes() + holds.hour() + holds.longer();
    }

    static String said(Count count) {
      return count.exact() ? Say.number(count.jobs()) : "≈ " + Say.roughly((double) count.jobs());
    }

    static String queued(QueueState queue) {
      return queue.queued() >= QueueState.MOST
          ? Say.number(QueueState.MOST) + "+"
          : Say.number(queue.queued());
    }
  }

  private final Frames frames;
  private final Holdfast holdfast;
  private final Sampler sampler;

  OverviewPage(Frames frames, Holdfast holdfast, Sampler sampler) {
    this.frames = frames;
    this.holdfast = holdfast;
    this.sampler = sampler;
  }

  List<Route> routes() {
    return List.of(
        Route.of(GET, "/ui/overview", Role.VIEWER, "A tenant at a glance", this::show).asPage());
  }

  private Answer show(Request request) {
    TenantServices services = request.services();
    Overview overview = services.overview();
    List<Beat> beats = sampler.activity(services.tenant().name()).beats(BEATS);
    List<QueueState> queues =
        services.queues().list("", QUEUES_READ).stream()
            .sorted(Comparator.comparing(OverviewPage::isQuiet)) // a stable sort: then by name
            .toList();
    return Html.page(
        "overview",
        new View(
            frames.frame(request, "Overview", "overview"),
            overview.counts(),
            queues.subList(0, Math.min(QUEUES, queues.size())),
            queues.size() > QUEUES,
            throughput(beats),
            waits(beats),
            overview.oldest(),
            holdfast.workers().list(services.tenant().name(), "", WORKERS),
            overview.holds(),
            overview.blocks(6),
            services.invariants().check(),
            overview.failures(FAILURES_OF)));
  }

  private static boolean isQuiet(QueueState queue) {
    return queue.queued() + queue.running() == 0 && !queue.settings().paused();
  }

  private static Chart throughput(List<Beat> beats) {
    return Chart.of(
        "throughput",
        "Throughput",
        "Jobs a second, and claims that were granted some; sampled every few seconds by this node"
            + " from the database's own counters.",
        moments(beats),
        List.of(
            series("enqueued", beats, Beat::enqueued),
            series("claims", beats, Beat::claims),
            series("finished", beats, Beat::finished),
            series("failed", beats, Beat::failed)),
        value -> Say.roughly(value) + "/s");
  }

  private static Chart waits(List<Beat> beats) {
    return Chart.of(
        "waits",
        "Time to start",
        "From when a job was due to when it started: of the newest 500 that are over, so about.",
        moments(beats),
        List.of(
            series("p50", beats, beat -> beat.waits().map(Waits::halfMillis).orElse(Double.NaN)),
            series(
                "p99", beats, beat -> beat.waits().map(Waits::nearlyAllMillis).orElse(Double.NaN))),
        Say::millis);
  }

  private static List<Instant> moments(List<Beat> beats) {
    return beats.stream().map(Beat::at).toList();
  }

  private static Series series(String name, List<Beat> beats, ToDoubleFunction<Beat> value) {
    return new Series(name, name, beats.stream().map(value::applyAsDouble).toList());
  }
}
