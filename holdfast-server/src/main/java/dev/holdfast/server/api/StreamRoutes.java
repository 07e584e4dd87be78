package dev.holdfast.server.api;

import static dev.holdfast.server.api.Routes.BASE;
import static dev.holdfast.server.http.Route.Method.GET;

import dev.holdfast.api.HistoryJson;
import dev.holdfast.api.Json;
import dev.holdfast.error.HoldfastException;
import dev.holdfast.job.Job;
import dev.holdfast.queue.LogChunk;
import dev.holdfast.server.ServerConfig;
import dev.holdfast.server.auth.Role;
import dev.holdfast.server.http.Answer;
import dev.holdfast.server.http.EventStream;
import dev.holdfast.server.http.Refusal;
import dev.holdfast.server.http.Request;
import dev.holdfast.server.http.Route;
import dev.holdfast.server.poll.ConcurrencyLimit;
import dev.holdfast.server.poll.Hints;
import dev.holdfast.tenant.Tenant;
import java.io.IOException;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.UUID;

/** Routes that stream: hints that something changed, and logs. */
final class StreamRoutes {

  private static final Duration PACE = Duration.ofSeconds(1);
  private static final Duration LONGEST = Duration.ofHours(1);
  private static final int LINES_AT_ONCE = 500;

  private final Hints hints;
  private final ConcurrencyLimit limit;

  StreamRoutes(Hints hints, ServerConfig config) {
    this.hints = hints;
    this.limit = new ConcurrencyLimit(config.limits().streams());
  }

  List<Route> routes() {
    return List.of(
        Route.of(GET, BASE + "/events", Role.VIEWER, "Says when something changed", this::events)
            .waiting(),
        Route.of(
                GET,
                BASE + "/jobs/{id}/logs",
                Role.VIEWER,
                "A job's log, from an offset",
                this::log)
            .queries("offset", "limit", "follow")
            .waiting());
  }

  private interface Stream {
    void run() throws IOException, InterruptedException;
  }

  private Answer counted(Request request, Stream stream) throws IOException, InterruptedException {
    String who = request.principal().key();
    if (!limit.enter(who)) {
      throw Refusal.of(429, "TOO_MANY_STREAMS", "more streams at once than a token may have");
    }
    try {
      stream.run();
      return EventStream.SENT;
    } finally {
      limit.leave(who);
    }
  }

  private Answer events(Request request) throws IOException, InterruptedException {
    return counted(request, () -> sendEvents(request));
  }

  private void sendEvents(Request request) throws IOException, InterruptedException {
    Tenant tenant = request.services().tenant();
    long last = hints.number(tenant);
    try (EventStream stream = EventStream.begin(request, LONGEST)) {
      stream.send("hello", Optional.of(String.valueOf(last)), Json.object());
      while (stream.pause(PACE) && request.isStillAllowed()) {
        long now = hints.number(tenant);
        if (now != last) {
          last = now;
          stream.send("changed", Optional.of(String.valueOf(now)), Json.object());
        }
      }
    }
  }

  private Answer log(Request request) throws IOException, InterruptedException {
    Job job = JobRoutes.job(request, request.id());
    boolean follows =
        request.flag("follow")
            || String.valueOf(request.http().header("Accept")).contains("text/event-stream");
    long offset = offset(request, follows);
    if (follows) {
      return counted(request, () -> follow(request, job.id(), offset));
    }
    return Answer.ok(
        HistoryJson.writeLog(
            offset, request.services().jobs().log(job.id(), offset, request.limit())));
  }

  // A client that was cut off reconnects at the same address, with its position in a header.
  private static long offset(Request request, boolean follows) {
    long offset =
        Optional.ofNullable(request.http().header("Last-Event-ID"))
            .filter(id -> follows && id.matches("\\d{1,18}"))
            .map(Long::valueOf)
            .or(() -> request.number("offset"))
            .orElse(0L);
    if (offset < 0) {
      throw HoldfastException.invalid("offset", offset, "0 or more");
    }
    return offset;
  }

  // The id of each event is the offset of the next, so that a client that was cut off can resume.
  private static void follow(Request request, UUID id, long from)
      throws IOException, InterruptedException {
    long offset = from;
    try (EventStream stream = EventStream.begin(request, LONGEST)) {
      boolean over = false;
      do {
        // Read before the log, so that the last lines before the end are not missed.
        over = JobRoutes.job(request, id).state().isFinished();
        LogChunk chunk = request.services().jobs().log(id, offset, LINES_AT_ONCE);
        while (!chunk.lines().isEmpty()) {
          stream.send(
              "log",
              Optional.of(String.valueOf(chunk.offset())),
              HistoryJson.writeLog(offset, chunk));
          offset = chunk.offset();
          if (!stream.lasts() || !request.isStillAllowed()) {
            return; // new lines may keep coming for ever
          }
          chunk = request.services().jobs().log(id, offset, LINES_AT_ONCE);
        }
      } while (!over && stream.pause(PACE) && request.isStillAllowed());
      if (over) {
        stream.send("end", Optional.of(String.valueOf(offset)), Json.object());
      }
    }
  }
}
