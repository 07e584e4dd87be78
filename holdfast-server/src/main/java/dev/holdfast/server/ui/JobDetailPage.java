package dev.holdfast.server.ui;

import static dev.holdfast.server.http.Route.Method.GET;

import dev.holdfast.api.MaskedArgs;
import dev.holdfast.error.ErrorCode;
import dev.holdfast.error.HoldfastException;
import dev.holdfast.hold.ResourceState;
import dev.holdfast.job.AttemptRecord;
import dev.holdfast.job.Job;
import dev.holdfast.queue.LogChunk;
import dev.holdfast.server.auth.Role;
import dev.holdfast.server.http.Answer;
import dev.holdfast.server.http.Request;
import dev.holdfast.server.http.Route;
import dev.holdfast.server.tenancy.TenantServices;
import java.io.IOException;
import java.io.OutputStream;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.UUID;

/**
 * The page of one job: its state and the reasons for it, its attempts, log and result, and the acts
 * that are possible.
 */
final class JobDetailPage {

  private static final int LINES = 400;
  private static final int ATTEMPTS = 200;
  private static final int ACTS = 200;
  private static final int LINES_AT_ONCE = 1_000;

  private final Frames frames;
  private final Forms forms;

  JobDetailPage(Frames frames, Forms forms) {
    this.frames = frames;
    this.forms = forms;
  }

  List<Route> routes() {
    return List.of(
        Route.of(GET, "/ui/jobs/{id}", Role.VIEWER, "A job", this::show).asPage(),
        Route.of(GET, "/ui/jobs/{id}/log", Role.VIEWER, "Its log, as it grows", this::follow)
            .queries("offset")
            .waiting()
            .asPage(),
        Route.of(GET, "/ui/jobs/{id}/log.txt", Role.VIEWER, "Its log, to keep", this::download)
            .waiting()
            .asPage(),
        Route.of(GET, "/ui/jobs/{id}/args.json", Role.SUBMITTER, "Its arguments", this::args)
            .asPage(),
        Route.of(GET, "/ui/jobs/{id}/result.json", Role.VIEWER, "Its result", this::result)
            .asPage());
  }

  private static Job job(Request request) {
    UUID id = request.id();
    return request
        .services()
        .jobs()
        .get(id)
        .orElseThrow(() -> new HoldfastException(ErrorCode.NOT_FOUND, "There is no job " + id));
  }

  private Answer show(Request request) {
    Job job = job(request);
    TenantServices services = request.services();
    Frame frame = frames.frame(request, job.kind(), "jobs");
    List<AttemptRecord> attempts = services.jobs().lastAttempts(job.id(), ATTEMPTS).rows();
    LogChunk log = services.jobs().logTail(job.id(), LINES);
    List<ResourceState> resources =
        job.needs().resources().stream().map(name -> services.resources().get(name)).toList();
    return Html.page(
        "job",
        new JobPageView(
            frame,
            job,
            services.jobs().why(job.id()),
            Timeline.of(job, attempts.reversed(), frame.now()),
            ProgressView.of(job),
            attempts,
            resources,
            frame.seesArgs()
                ? Optional.of(JsonTree.of(MaskedArgs.of(job.args())))
                : Optional.empty(),
            job.result().map(JsonTree::of),
            log,
            log.lines().size() == LINES,
            services.audit().lastOfJob(job.id(), ACTS),
            JobActs.of(job, frame.role())));
  }

  private Answer follow(Request request) throws Exception {
    return request.ask(
        forms.api("GET /api/v1/jobs/{id}/logs"),
        Map.of("id", request.id().toString()),
        dev.holdfast.api.Json.object());
  }

  private Answer download(Request request) throws IOException {
    Job job = job(request);
    var response = request.http().res();
    response.setContentType("text/plain; charset=utf-8");
    response.setHeader("Cache-Control", "no-store");
    response.setHeader("X-Content-Type-Options", "nosniff");
    response.setHeader("Content-Disposition", "attachment; filename=\"" + job.id() + ".log\"");
    OutputStream out = response.getOutputStream();
    long offset = 0;
    LogChunk chunk = request.services().jobs().log(job.id(), offset, LINES_AT_ONCE);
    while (!chunk.lines().isEmpty() && request.isStillAllowed()) {
      StringBuilder text = new StringBuilder();
      chunk
          .lines()
          .forEach(line -> text.append(line.at()).append(' ').append(line.text()).append('\n'));
      out.write(text.toString().getBytes(StandardCharsets.UTF_8));
      offset = chunk.offset();
      chunk = request.services().jobs().log(job.id(), offset, LINES_AT_ONCE);
    }
    out.flush();
    return Answer.text("text/plain", "");
  }

  private Answer args(Request request) {
    return Answer.text("application/json", MaskedArgs.of(job(request).args()).json());
  }

  private Answer result(Request request) {
    return Answer.text(
        "application/json", job(request).result().map(result -> result.json()).orElse("null"));
  }
}
