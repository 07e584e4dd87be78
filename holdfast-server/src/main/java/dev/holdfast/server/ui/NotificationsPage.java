package dev.holdfast.server.ui;

import static dev.holdfast.server.http.Route.Method.GET;

import dev.holdfast.api.Fields;
import dev.holdfast.api.Json;
import dev.holdfast.error.HoldfastException;
import dev.holdfast.job.Job;
import dev.holdfast.queue.JobFilter;
import dev.holdfast.queue.JobPage;
import dev.holdfast.server.auth.Role;
import dev.holdfast.server.http.Answer;
import dev.holdfast.server.http.Request;
import dev.holdfast.server.http.Route;
import dev.holdfast.server.tenancy.Webhook;
import java.util.Arrays;
import java.util.List;
import tools.jackson.databind.JsonNode;

/** The page with the webhooks of a tenant, and their deliveries. */
final class NotificationsPage {

  private static final String QUEUE = "holdfast.webhooks";
  private static final int ROWS = 50;

  /** One message to one webhook. It is a job, and is retried like any other. */
  record Sent(Job job, String webhook, String event, String about, String detail) {

    static Sent of(Job job) {
      try {
        JsonNode args = Json.parse("args", job.args().json());
        return new Sent(
            job,
            args.path("webhook").asString(""),
            args.path("event").asString(""),
            args.path("jobId").asString(""),
            args.path("detail").asString(""));
      } catch (HoldfastException e) {
        return new Sent(job, "?", "?", "", "");
      }
    }
  }

  /** What the template shows. */
  record View(
      Frame frame,
      List<Webhook> webhooks,
      List<String> events,
      List<Sent> deliveries,
      String olderHref) {}

  private final Frames frames;

  NotificationsPage(Frames frames) {
    this.frames = frames;
  }

  List<Route> routes() {
    return List.of(
        Route.of(GET, "/ui/notifications", Role.ADMIN, "Webhooks and deliveries", this::show)
            .queries("after")
            .asPage());
  }

  private Answer show(Request request) {
    JobPage page =
        request
            .services()
            .jobs()
            .list(
                JobFilter.ALL.withQueue(QUEUE),
                request.query("after").map(id -> Fields.uuid("after", id)),
                ROWS);
    return Html.page(
        "notifications",
        new View(
            frames.frame(request, "Notifications", "notifications"),
            request.services().webhooks().list(),
            Arrays.stream(Webhook.Event.values()).map(Webhook.Event::stored).toList(),
            page.jobs().stream().map(Sent::of).toList(),
            page.after().map(id -> "/ui/notifications?after=" + id).orElse("")));
  }
}
