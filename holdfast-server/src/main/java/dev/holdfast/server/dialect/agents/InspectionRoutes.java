package dev.holdfast.server.dialect.agents;

import static dev.holdfast.server.http.Route.Method.GET;
import static java.nio.charset.StandardCharsets.UTF_8;

import dev.holdfast.api.Json;
import dev.holdfast.error.HoldfastException;
import dev.holdfast.fleet.FencelessAgents.AgentState;
import dev.holdfast.server.auth.Role;
import dev.holdfast.server.http.Answer;
import dev.holdfast.server.http.Listing;
import dev.holdfast.server.http.Refusal;
import dev.holdfast.server.http.Request;
import dev.holdfast.server.http.Route;
import java.io.IOException;
import java.nio.file.FileSystemException;
import java.time.Instant;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.UUID;
import java.util.function.Function;
import java.util.stream.Collectors;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.node.ArrayNode;
import tools.jackson.databind.node.ObjectNode;

/** Where jobs are, who there is, and what agents wrote down. */
final class InspectionRoutes {

  private static final int MOST_JOBS = 10_000;
  private static final int MOST_BYTES = 8 << 20;

  private final AgentDialect dialect;

  InspectionRoutes(AgentDialect dialect) {
    this.dialect = dialect;
  }

  List<Route> routes() {
    return List.of(
        read("/status/{job_id}", "A job's status", this::status),
        read("/job-info/{job_id}", "What is known about a job", this::info),
        read("/jobs", "Agents' jobs, newest first", this::jobs),
        read("/queue", "Jobs that wait for an agent, in their order", this::queue),
        read("/hosts", "Agents, and how they are", this::hosts),
        read("/progress/{job_id}", "What a job's container wrote of its progress", this::progress),
        read("/result/{job_id}", "What a job's container wrote as its result", this::result));
  }

  private static Route read(String path, String summary, Route.Handler handler) {
    return Route.of(GET, path, Role.VIEWER, summary, handler);
  }

  private Answer status(Request request) {
    AgentJob job = shown(request);
    return Answer.ok(Documents.status(job, job.shown().at().orElse(Instant.EPOCH)));
  }

  private Answer info(Request request) {
    return Answer.ok(Documents.info(shown(request)));
  }

  /** Whoever looks finds in the files what they are told. */
  private AgentJob shown(Request request) {
    AgentJob job = dialect.job(request);
    if (job.isShown()) {
      return job;
    }
    dialect.services(request).files().show(job.id());
    return dialect.job(request);
  }

  private Answer jobs(Request request) throws IOException {
    AgentServices services = dialect.services(request);
    List<UUID> newest =
        services.tenant().db().inTransaction(handle -> services.jobs().newest(handle, MOST_JOBS));
    return Listing.send(
        request,
        rows ->
            services
                .jobs()
                .each(
                    newest,
                    job -> {
                      ObjectNode json = Json.object();
                      json.put("job_id", job.id().toString());
                      json.put("status", job.status().word());
                      json.set("job_info", Documents.info(job));
                      rows.accept(json);
                    }));
  }

  private Answer queue(Request request) {
    ArrayNode list = Json.array();
    dialect
        .services(request)
        .jobs()
        .queued(MOST_JOBS)
        .forEach(entry ->
            list.add(
                Documents.entry(
                    entry.id(),
                    entry.host().isEmpty() ? Optional.empty() : Optional.of(entry.host()),
                    entry.hostRequired())));
    return Answer.ok(list);
  }

  private Answer hosts(Request request) {
    Map<String, AgentState> seen =
        dialect.services(request).agents().list().stream()
            .collect(Collectors.toMap(AgentState::name, Function.identity()));
    Set<String> names = new LinkedHashSet<>(dialect.settings().hosts());
    ObjectNode json = Json.object();
    ArrayNode available = json.putArray("available_hosts");
    (names.isEmpty() ? seen.keySet().stream().sorted().toList() : List.copyOf(names))
        .forEach(available::add);
    seen.keySet().stream().sorted().forEach(names::add);
    ObjectNode hosts = json.putObject("hosts");
    names.forEach(name -> hosts.set(name, host(Optional.ofNullable(seen.get(name)))));
    return Answer.ok(json);
  }

  private static ObjectNode host(Optional<AgentState> seen) {
    ObjectNode json = Json.object();
    json.put("online", seen.filter(AgentState::online).isPresent());
    json.put("last_seen", seen.map(agent -> Documents.epochSeconds(agent.seenAt())).orElse(null));
    json.set(
        "info",
        seen.flatMap(AgentState::info)
            .map(info -> Json.parse("info", info))
            .orElseGet(Json::object));
    json.put("running", seen.map(AgentState::running).orElse(0L));
    return json;
  }

  private Answer progress(Request request) {
    AgentJob job = dialect.job(request);
    return Answer.ok(
        written(request, JobFiles.progress(job.id()))
            .orElseGet(() -> Json.object().put("progress", "No updates yet.")));
  }

  private Answer result(Request request) {
    AgentJob job = dialect.job(request);
    return Answer.ok(
        written(request, JobFiles.result(job.id()))
            .orElseGet(() ->
                Json.object()
                    .put("status", "pending")
                    .put("message", "The job has not written a result.")));
  }

  // Its agent's own, who may be writing it this moment: what is not JSON yet is not there yet.
  private Optional<JsonNode> written(Request request, List<String> path) {
    try {
      Optional<byte[]> content = dialect.services(request).shared().read(path, MOST_BYTES + 1);
      if (content.filter(bytes -> bytes.length > MOST_BYTES).isPresent()) {
        throw Refusal.of(413, "TOO_LARGE", "the file has more than " + MOST_BYTES + " bytes");
      }
      return content.map(bytes -> Json.parse("file", new String(bytes, UTF_8)));
    } catch (HoldfastException | FileSystemException e) {
      return Optional.empty();
    } catch (IOException e) {
      throw JobFiles.unwritable(e);
    }
  }
}
