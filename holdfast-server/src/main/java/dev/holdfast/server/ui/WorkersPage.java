package dev.holdfast.server.ui;

import static dev.holdfast.server.http.Route.Method.GET;

import dev.holdfast.Holdfast;
import dev.holdfast.fleet.WorkerState;
import dev.holdfast.server.auth.Role;
import dev.holdfast.server.http.Answer;
import dev.holdfast.server.http.Request;
import dev.holdfast.server.http.Route;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;
import java.util.stream.Collectors;

/** The page with the workers, by host: when they were last seen, and how many jobs they have. */
final class WorkersPage {

  private static final int ROWS = 500;

  /** A worker, with the number of its jobs. */
  record Row(WorkerState state, long active) {

    String labels() {
      return state.info().labels().entrySet().stream()
          .map(each -> each.getKey() + "=" + each.getValue())
          .sorted()
          .collect(Collectors.joining(", "));
    }

    /** What the worker last reported about itself: load, memory, version. Most report nothing. */
    Optional<JsonTree> vitals() {
      return state.vitals().map(JsonTree::of);
    }

    String queues() {
      return state.info().queues().stream().sorted().collect(Collectors.joining(", "));
    }

    String kinds() {
      return state
          .info()
          .kinds()
          .map(kinds -> kinds.stream().sorted().collect(Collectors.joining(", ")))
          .orElse("any");
    }
  }

  /** The workers of one machine. */
  record Host(String name, List<Row> workers) {

    long online() {
      return workers.stream().filter(row -> row.state().online()).count();
    }

    long active() {
      return workers.stream().mapToLong(Row::active).sum();
    }
  }

  /** What the template shows. */
  record View(Frame frame, List<Host> hosts, String nextHref) {

    /** Only the system role may drain a worker that serves all tenants. */
    boolean mayDrain(Row row) {
      return frame.mayOperate() && (row.state().info().tenant().isPresent() || frame.isSystem());
    }
  }

  private final Frames frames;
  private final Holdfast holdfast;

  WorkersPage(Frames frames, Holdfast holdfast) {
    this.frames = frames;
    this.holdfast = holdfast;
  }

  List<Route> routes() {
    return List.of(
        Route.of(GET, "/ui/workers", Role.VIEWER, "Workers and hosts", this::show)
            .queries("after")
            .asPage());
  }

  private Answer show(Request request) {
    List<WorkerState> workers =
        holdfast
            .workers()
            .list(request.services().tenant().name(), request.query("after").orElse(""), ROWS);
    Map<String, Long> active = request.services().jobs().leasedByWorker();
    Map<String, List<Row>> byHost = new TreeMap<>();
    workers.forEach(worker ->
        byHost
            .computeIfAbsent(worker.info().host(), host -> new ArrayList<>())
            .add(new Row(worker, active.getOrDefault(worker.info().name(), 0L))));
    return Html.page(
        "workers",
        new View(
            frames.frame(request, "Workers", "workers"),
            byHost.entrySet().stream()
                .map(each -> new Host(each.getKey(), each.getValue()))
                .toList(),
            workers.size() == ROWS
                ? "/ui/workers?after=" + Say.query(workers.getLast().place())
                : ""));
  }
}
