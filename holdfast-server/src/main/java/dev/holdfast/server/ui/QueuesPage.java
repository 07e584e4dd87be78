package dev.holdfast.server.ui;

import static dev.holdfast.server.http.Route.Method.GET;

import dev.holdfast.api.Json;
import dev.holdfast.codec.PolicyJson;
import dev.holdfast.queue.QueueState;
import dev.holdfast.server.auth.Role;
import dev.holdfast.server.http.Answer;
import dev.holdfast.server.http.Request;
import dev.holdfast.server.http.Route;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Collectors;
import tools.jackson.databind.JsonNode;

/** The page with the queues: their depth, their limits, and whether they are paused. */
final class QueuesPage {

  private static final PolicyJson POLICIES = new PolicyJson();
  private static final int ROWS = 100;

  /** A queue, with the defaults of its jobs in words. */
  record Queue(QueueState state, List<String> defaults) {}

  /** What the template shows. */
  record View(Frame frame, List<Queue> queues, String nextHref) {}

  private final Frames frames;

  QueuesPage(Frames frames) {
    this.frames = frames;
  }

  List<Route> routes() {
    return List.of(
        Route.of(GET, "/ui/queues", Role.VIEWER, "Queues", this::show).queries("after").asPage());
  }

  private Answer show(Request request) {
    List<QueueState> queues = request.services().queues().list(request.after(), ROWS);
    return Html.page(
        "queues",
        new View(
            frames.frame(request, "Queues", "queues"),
            queues.stream().map(queue -> new Queue(queue, defaults(queue))).toList(),
            queues.size() == ROWS ? "/ui/queues?after=" + Say.query(queues.getLast().name()) : ""));
  }

  private static List<String> defaults(QueueState queue) {
    List<String> said = new ArrayList<>();
    Json.parse("defaults", POLICIES.write(queue.settings().defaults()))
        .properties()
        .forEach(each -> said.add(words(each.getKey(), each.getValue())));
    return said;
  }

  private static String words(String name, JsonNode value) {
    String words =
        value.isObject()
            ? value.properties().stream()
                .map(each -> words(each.getKey(), each.getValue()))
                .collect(Collectors.joining(", "))
            : value.isNull() ? "none" : value.isString() ? value.stringValue() : number(value);
    return name.replace('_', ' ') + " " + words;
  }

  private static String number(JsonNode value) {
    return Json.write(value).replaceFirst("\\.0$", "");
  }
}
