package dev.holdfast.server.dialect.agents;

import static dev.holdfast.server.http.Route.Method.POST;

import dev.holdfast.api.Fields;
import dev.holdfast.api.Json;
import dev.holdfast.error.HoldfastException;
import dev.holdfast.job.NewJob;
import dev.holdfast.job.Placement;
import dev.holdfast.job.Policy;
import dev.holdfast.job.PolicyOverrides;
import dev.holdfast.server.auth.Role;
import dev.holdfast.server.dialect.agents.Simulation.Experiment;
import dev.holdfast.server.http.Answer;
import dev.holdfast.server.http.Request;
import dev.holdfast.server.http.Route;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.UUID;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.node.ObjectNode;

/** What is to be run. */
final class SubmissionRoutes {

  private final AgentDialect dialect;

  SubmissionRoutes(AgentDialect dialect) {
    this.dialect = dialect;
  }

  List<Route> routes() {
    return List.of(
        Route.of(POST, "/run-simulation", Role.SUBMITTER, "Has agents run something", this::run)
            .fields("config", "config_path", "target_host", "save_as", "job_name", "image", "env"));
  }

  private Answer run(Request request) {
    Fields body = request.body();
    AgentServices services = dialect.services(request);
    Optional<String> host =
        body.optionalText("target_host").map(name -> dialect.host("target_host", name));
    // Random, where ours begin with the time: containers are named by the first eight digits.
    UUID id = UUID.randomUUID();
    Simulation simulation = simulation(body, services, id);
    NewJob job =
        NewJob.of(Simulation.KIND, simulation.payload())
            .withQueue(Simulation.QUEUE)
            .withId(id)
            .withPolicy(PolicyOverrides.NONE.withEnqueuedAs(Policy.BY_WORKERS))
            .withPlacement(host.map(Placement::requiring).orElse(Placement.ANYWHERE));
    request.services().jobs().prepare(job);
    services
        .tenant()
        .db()
        .useTransaction(handle -> {
          request.services().jobs().enqueue(handle.getConnection(), job);
          services.catalogue().make(handle, id);
        });
    services.files().show(id);
    ObjectNode json = Json.object();
    json.put("job_id", id.toString());
    json.put("status", AgentStatus.QUEUED.word());
    Json.put(json, "host", host);
    json.put("job_name", simulation.jobName());
    return Answer.ok(json);
  }

  // Everything is checked before the configuration is written: nothing is left of what is refused.
  private static Simulation simulation(Fields body, AgentServices services, UUID id) {
    Optional<Fields> config = body.optionalObject("config");
    Optional<ConfigPath> path =
        body.optionalText("config_path").map(text -> ConfigPath.of("config_path", text));
    Optional<ConfigPath> saveAs =
        body.optionalText("save_as").map(text -> ConfigPath.of("save_as", text));
    if (config.isPresent() == path.isPresent()) {
      throw HoldfastException.invalid(
          "config", config.isPresent() ? "beside config_path" : "missing", "it or config_path");
    }
    ConfigPath place = path.or(() -> saveAs).orElseGet(() -> ConfigPath.ofJob(id));
    Experiment experiment =
        config
            .<JsonNode>map(Fields::json)
            .or(() -> services.configs().read(place))
            .map(Experiment::of)
            .orElse(Experiment.UNNAMED);
    Simulation simulation =
        new Simulation(
            body.optionalText("job_name")
                .filter(name -> !name.isBlank())
                .orElseGet(experiment::jobName),
            place,
            body.optionalText("image").orElse(Simulation.DEFAULT_IMAGE),
            env(body),
            experiment.name(),
            experiment.run());
    simulation.payload(); // not too large
    config.ifPresent(given -> services.configs().save(place, given.json()));
    return simulation;
  }

  private static Map<String, String> env(Fields body) {
    Map<String, String> env = new LinkedHashMap<>();
    body.optionalObject("env")
        .ifPresent(given ->
            given
                .json()
                .properties()
                .forEach(entry -> {
                  if (!entry.getValue().isValueNode()) {
                    throw HoldfastException.invalid(
                        "env." + entry.getKey(), entry.getValue(), "text");
                  }
                  env.put(entry.getKey(), entry.getValue().asString());
                }));
    return env;
  }
}
