package dev.holdfast.server.ui;

import static dev.holdfast.server.http.Route.Method.GET;

import dev.holdfast.api.Fields;
import dev.holdfast.api.JobQuery;
import dev.holdfast.error.HoldfastException;
import dev.holdfast.job.Job;
import dev.holdfast.job.JobState;
import dev.holdfast.queue.JobFilter;
import dev.holdfast.queue.JobPage;
import dev.holdfast.server.auth.Role;
import dev.holdfast.server.http.Answer;
import dev.holdfast.server.http.Request;
import dev.holdfast.server.http.Route;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeSet;
import java.util.UUID;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/** The list of jobs, newest first, with filters, in pages. */
final class JobsPage {

  private static final int ROWS = 50;

  /** A state to filter by, with its link. */
  record Chip(JobState state, boolean on, String href) {}

  /** The rows alone, which are refreshed in place. */
  record Rows(List<Job> jobs, Instant now, boolean selectable, boolean newer, String newerHref) {}

  /** What the template shows. */
  record View(
      Frame frame,
      Map<String, String> filter,
      List<Chip> chips,
      Rows rows,
      String liveHref,
      String olderHref,
      boolean first,
      boolean searchedOnly,
      boolean isEmptyTenant) {

    String value(String name) {
      return filter.getOrDefault(name, "");
    }

    boolean isFiltered() {
      return !filter.isEmpty();
    }

    int moreFilters() {
      return (int) filter.keySet().stream().filter(name -> !name.equals("state")).count();
    }
  }

  private final Frames frames;

  JobsPage(Frames frames) {
    this.frames = frames;
  }

  List<Route> routes() {
    return List.of(
        Route.of(GET, "/ui/jobs", Role.VIEWER, "Jobs", this::list)
            .queries(
                Stream.concat(JobQuery.NAMES.stream(), Stream.of("after")).toArray(String[]::new))
            .asPage(),
        Route.of(GET, "/ui/jobs/rows", Role.VIEWER, "Some jobs' rows, as they are now", this::rows)
            .queries(
                Stream.concat(JobQuery.NAMES.stream(), Stream.of("ids", "first"))
                    .toArray(String[]::new))
            .asPage(),
        Route.of(GET, "/ui/find", Role.VIEWER, "To the job with an id, or of a kind", this::find)
            .queries("q")
            .asPage());
  }

  private Answer list(Request request) {
    JobFilter filter = JobQuery.read(request::query);
    Optional<UUID> after = request.query("after").map(id -> Fields.uuid("after", id));
    JobPage page = request.services().jobs().list(filter, after, ROWS);
    Map<String, String> said = said(request);
    Frame frame = frames.frame(request, "Jobs", "jobs");
    boolean none = page.jobs().isEmpty();
    return Html.page(
        "jobs",
        new View(
            frame,
            said,
            chips(said, filter.states()),
            new Rows(page.jobs(), frame.now(), frame.mayOperate(), false, href(said, "", "")),
            none ? "" : rowsHref(said, page.jobs(), after.isEmpty()),
            page.after().map(id -> href(said, "after", id.toString())).orElse(""),
            after.isEmpty(),
            none && page.after().isPresent(),
            none && said.isEmpty() && after.isEmpty()));
  }

  private static Map<String, String> said(Request request) {
    Map<String, String> said = new LinkedHashMap<>();
    JobQuery.NAMES.forEach(name -> request.query(name).ifPresent(value -> said.put(name, value)));
    return said;
  }

  private static List<Chip> chips(Map<String, String> said, Set<JobState> chosen) {
    List<Chip> chips = new ArrayList<>();
    for (JobState state : JobState.values()) {
      Set<JobState> toggled = new TreeSet<>(chosen);
      if (!toggled.remove(state)) {
        toggled.add(state);
      }
      String states = toggled.stream().map(JobState::stored).collect(Collectors.joining(","));
      chips.add(new Chip(state, chosen.contains(state), href(said, "state", states)));
    }
    return chips;
  }

  private static String href(Map<String, String> said, String name, String value) {
    return "/ui/jobs" + query(said, name, value);
  }

  private static String query(Map<String, String> said, String name, String value) {
    Map<String, String> all = new LinkedHashMap<>(said);
    all.put(name, value);
    String query =
        all.entrySet().stream()
            .filter(each -> !each.getValue().isEmpty())
            .map(each -> each.getKey() + "=" + Say.query(each.getValue()))
            .collect(Collectors.joining("&"));
    return query.isEmpty() ? "" : "?" + query;
  }

  private static String rowsHref(Map<String, String> said, List<Job> jobs, boolean first) {
    Map<String, String> asked = new LinkedHashMap<>(said);
    if (first) {
      asked.put("first", jobs.getFirst().id().toString());
    }
    String ids = jobs.stream().map(job -> job.id().toString()).collect(Collectors.joining(","));
    return "/ui/jobs/rows" + query(asked, "ids", ids);
  }

  // The same jobs in the same order, whatever their state is now: nothing moves under the cursor.
  // The page says beside them if there are newer ones.
  private Answer rows(Request request) {
    List<UUID> ids =
        Arrays.stream(request.query("ids").orElse("").split(",", -1))
            .map(id -> Fields.uuid("ids", id))
            .toList();
    if (ids.size() > ROWS) {
      throw HoldfastException.invalid("ids", ids.size() + " ids", "at most " + ROWS);
    }
    Map<UUID, Job> found = request.services().jobs().all(ids);
    List<Job> jobs = ids.stream().filter(found::containsKey).map(found::get).toList();
    boolean newer =
        request
            .query("first")
            .map(id -> Fields.uuid("first", id))
            .filter(first -> isNewer(request, first))
            .isPresent();
    return Html.page(
        "rows",
        new Rows(
            jobs,
            request.services().overview().now(),
            request.mayDo(Role.OPERATOR),
            newer,
            href(said(request), "", "")));
  }

  // Ids made by the engine begin with their time, and the list is in their order. That the first
  // job no longer matches does not make another one newer.
  private static boolean isNewer(Request request, UUID first) {
    JobPage newest =
        request.services().jobs().list(JobQuery.read(request::query), Optional.empty(), 1);
    return newest.jobs().stream()
        .anyMatch(job -> job.id().toString().compareTo(first.toString()) > 0);
  }

  private Answer find(Request request) {
    String asked = request.query("q").map(String::strip).orElse("");
    if (asked.matches("[0-9a-fA-F]{8}(-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}")) {
      return LoginPage.to(request, "/ui/jobs/" + asked);
    }
    return LoginPage.to(
        request, asked.isEmpty() ? "/ui/jobs" : "/ui/jobs?kind=" + Say.query(asked));
  }
}
