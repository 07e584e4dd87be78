package dev.holdfast.server.ui;

import static dev.holdfast.server.http.Route.Method.GET;

import dev.holdfast.error.HoldfastException;
import dev.holdfast.hold.ResourceState;
import dev.holdfast.hold.ResourceState.Blocker;
import dev.holdfast.hold.ResourceState.Holder;
import dev.holdfast.hold.ResourceState.Waiter;
import dev.holdfast.hold.Resources.Summary;
import dev.holdfast.job.Job;
import dev.holdfast.job.Needs;
import dev.holdfast.overview.Overview.Standing;
import dev.holdfast.server.auth.Role;
import dev.holdfast.server.http.Answer;
import dev.holdfast.server.http.Request;
import dev.holdfast.server.http.Route;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.UUID;
import java.util.stream.Stream;

/** Resources and targets: who has them, since when, what stands on them, and who waits in order. */
final class ResourcesPage {

  private static final int ROWS = 100;
  private static final int WAITERS = 100;

  /** What the template of the list shows. */
  record View(Frame frame, List<Summary> resources, List<Standing> blocks, String nextHref) {}

  /** What the template of one shows; with each job as it is now. */
  record One(Frame frame, ResourceState state, List<Waiter> waiters, Map<UUID, Job> jobs) {

    Optional<Job> job(UUID id) {
      return Optional.ofNullable(jobs.get(id));
    }

    boolean isTarget() {
      return Needs.isTarget(state.name());
    }

    String kind(UUID id) {
      return job(id).map(Job::kind).orElse("(gone)");
    }

    /** What can be done about one that stands on it. */
    List<JobActs.Offer> ways(UUID id) {
      return job(id)
          .map(job -> JobActs.of(job, frame.role()))
          .map(offers ->
              offers.stream()
                  .filter(offer -> List.of("resume", "resolve", "cancel").contains(offer.act()))
                  .toList())
          .orElse(List.of());
    }
  }

  private final Frames frames;

  ResourcesPage(Frames frames) {
    this.frames = frames;
  }

  List<Route> routes() {
    return List.of(
        Route.of(GET, "/ui/resources", Role.VIEWER, "Resources and targets", this::list)
            .queries("after")
            .asPage(),
        Route.of(GET, "/ui/resource", Role.VIEWER, "A resource", this::one)
            .queries("name")
            .asPage());
  }

  private Answer list(Request request) {
    List<Summary> resources = request.services().resources().list(request.afterResource(), ROWS);
    return Html.page(
        "resources",
        new View(
            frames.frame(request, "Resources", "resources"),
            resources,
            request.services().overview().blocks(20),
            resources.size() == ROWS
                ? "/ui/resources?after=" + Say.query(resources.getLast().name())
                : ""));
  }

  private Answer one(Request request) {
    String name =
        request
            .query("name")
            .orElseThrow(() -> HoldfastException.invalid("name", "none", "a name"));
    ResourceState state = request.services().resources().get(Needs.resource("name", name));
    List<Waiter> waiters = state.waiters().subList(0, Math.min(WAITERS, state.waiters().size()));
    List<UUID> ids =
        Stream.of(
                state.holders().stream().map(Holder::jobId),
                state.blocks().stream().map(Blocker::jobId),
                waiters.stream().map(Waiter::jobId))
            .flatMap(each -> each)
            .distinct()
            .toList();
    Map<UUID, Job> jobs = ids.isEmpty() ? Map.of() : request.services().jobs().all(ids);
    return Html.page(
        "resource", new One(frames.frame(request, name, "resources"), state, waiters, jobs));
  }
}
