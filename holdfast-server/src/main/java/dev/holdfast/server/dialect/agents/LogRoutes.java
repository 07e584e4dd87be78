package dev.holdfast.server.dialect.agents;

import static dev.holdfast.server.http.Route.Method.GET;

import dev.holdfast.error.ErrorCode;
import dev.holdfast.error.HoldfastException;
import dev.holdfast.executor.files.SharedDirectory.Opened;
import dev.holdfast.server.auth.Role;
import dev.holdfast.server.http.Answer;
import dev.holdfast.server.http.Refusal;
import dev.holdfast.server.http.Request;
import dev.holdfast.server.http.Route;
import dev.holdfast.server.poll.ConcurrencyLimit;
import jakarta.servlet.http.HttpServletResponse;
import java.io.IOException;
import java.nio.file.FileSystemException;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.UUID;

/** What containers say, as their agents write it down. */
final class LogRoutes {

  private static final Answer SENT = new Answer(200, LogFile.TYPE, "");

  private final AgentDialect dialect;
  private final ConcurrencyLimit limit;

  LogRoutes(AgentDialect dialect, int streams) {
    this.dialect = dialect;
    this.limit = new ConcurrencyLimit(streams);
  }

  List<Route> routes() {
    return List.of(route("/logs/{job_id}"), route("/file-logs/{job_id}"));
  }

  private Route route(String path) {
    return Route.of(GET, path, Role.VIEWER, "A job's log, and what is added to it", this::log)
        .queries("follow", "offset")
        .waiting();
  }

  private Answer log(Request request) throws IOException, InterruptedException {
    AgentJob job = dialect.job(request);
    boolean follows = request.flag("follow");
    long offset = request.number("offset").orElse(0L);
    if (offset < 0) {
      throw HoldfastException.invalid("offset", offset, "0 or more");
    }
    String who = request.principal().key();
    if (!limit.enter(who)) {
      throw Refusal.of(429, "TOO_MANY_STREAMS", "more streams at once than a token may have");
    }
    try {
      send(request, job.id(), offset, follows);
      return SENT;
    } finally {
      limit.leave(who);
    }
  }

  private void send(Request request, UUID id, long offset, boolean follows)
      throws IOException, InterruptedException {
    AgentServices services = dialect.services(request);
    LogFile log = new LogFile(services.shared(), JobFiles.log(id));
    Opened first = open(log, id);
    HttpServletResponse response = request.http().res();
    response.setStatus(200);
    response.setContentType(LogFile.TYPE);
    response.setHeader("Cache-Control", "no-store");
    response.setHeader("X-Accel-Buffering", "no");
    response.setHeader("X-Content-Type-Options", "nosniff");
    if (follows) {
      log.follow(
          first,
          offset,
          response.getOutputStream(),
          () ->
              !request.mustEnd()
                  && request.isStillAllowed()
                  && services
                      .jobs()
                      .find(id)
                      .filter(job -> !job.status().isTerminal())
                      .isPresent());
    } else {
      log.copy(first, offset, response.getOutputStream());
    }
    response.flushBuffer();
  }

  private static Opened open(LogFile log, UUID id) throws IOException {
    Optional<Opened> opened;
    try {
      opened = log.open();
    } catch (FileSystemException e) {
      opened = Optional.empty(); // a link, or in no directory: there is no log of ours
    }
    return opened.orElseThrow(() ->
        new Refusal(
                404,
                ErrorCode.NOT_FOUND.name(),
                "job " + id + " has no log yet",
                Map.of("status", "not_found"))
            .asException());
  }
}
