package dev.holdfast.server.dialect.agents;

import dev.holdfast.api.Json;
import dev.holdfast.lease.Lease;
import java.math.BigDecimal;
import java.time.Instant;
import java.util.EnumSet;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.UUID;
import tools.jackson.databind.node.ObjectNode;

/** An agents' job as it stands in its files and in answers: the same words in both. */
final class Documents {

  // What people or the reaper ended has nobody's word but theirs.
  private static final Set<AgentStatus> SAY_WHY =
      EnumSet.of(AgentStatus.FAILED, AgentStatus.CANCELED);

  private Documents() {}

  /** {@code status.json}. */
  static ObjectNode status(AgentJob job, Instant updatedAt) {
    ObjectNode json = Json.object();
    json.put("job_id", job.id().toString());
    json.put("status", job.status().word());
    job.worksOnIt().ifPresent(worker -> json.put("worker_id", worker));
    putEnd(json, job);
    if (job.status() == AgentStatus.STOP_REQUESTED) {
      json.put("stop_requested", true);
    }
    json.put("status_updated_at", epochSeconds(updatedAt));
    return json;
  }

  /** {@code job_info.json}. */
  static ObjectNode info(AgentJob job) {
    ObjectNode json = Json.object();
    json.put("job_id", job.id().toString());
    Optional<Simulation> simulation = job.simulation();
    Json.put(json, "job_name", simulation.map(Simulation::jobName));
    Json.put(json, "config_path", simulation.map(Simulation::config));
    Json.put(json, "target_host", job.worksOnIt().or(() -> job.placement().host()));
    boolean counts = job.wordsCount();
    Json.put(json, "container_id", job.words().containerId().filter(id -> counts));
    Json.put(
        json,
        "container_name",
        job.words()
            .containerName()
            .filter(name -> counts)
            .or(() -> simulation.map(known -> known.containerName(job.id()))));
    Json.put(json, "experiment_name", simulation.map(Simulation::experimentName));
    Json.put(json, "run_name", simulation.map(Simulation::runName));
    putEnd(json, job);
    return json;
  }

  /** What {@code job_track.json} and the list of jobs say of one. */
  static ObjectNode entry(AgentJob job) {
    ObjectNode json = info(job);
    json.put("status", job.status().word());
    return json;
  }

  private static void putEnd(ObjectNode json, AgentJob job) {
    if (job.wordsCount()) {
      job.words().exitCode().ifPresent(code -> json.put("exit_code", code));
    }
    Optional<String> error =
        job.words()
            .error()
            .filter(said -> job.wordsCount())
            .or(() -> job.errorMessage().filter(said -> SAY_WHY.contains(job.status())));
    error.ifPresent(said -> json.put("error", said));
    if (job.wordsCount()) {
      job.words()
          .details()
          .ifPresent(details -> json.set("details", Json.parse("details", details)));
    }
  }

  /** {@code queue/<id>.json}, and what the list of the queue says of one. */
  static ObjectNode entry(UUID id, Optional<String> host, boolean required) {
    ObjectNode json = Json.object();
    json.put("job_id", id.toString());
    Json.put(json, "preferred_host", host);
    json.put("require_host", required);
    return json;
  }

  /** What an agent gets. */
  static ObjectNode payload(
      Lease lease, Simulation simulation, Optional<String> host, String sharedPath) {
    UUID id = lease.key().jobId();
    ObjectNode json = Json.object();
    json.put("job_id", id.toString());
    json.put("job_name", simulation.jobName());
    json.put("config_path", simulation.config().toString());
    Json.put(json, "preferred_host", host);
    json.put("image", simulation.image());
    json.put("command", simulation.command(id));
    json.put("container_name", simulation.containerName(id));
    json.putArray("volumes")
        .addObject()
        .put("host", sharedPath)
        .put("container", "/data")
        .put("mode", "rw");
    ObjectNode env = json.putObject("env");
    Map<String, String> variables = simulation.env();
    variables.keySet().stream().sorted().forEach(name -> env.put(name, variables.get(name)));
    return json;
  }

  /** Seconds since 1970, to the millisecond. */
  static BigDecimal epochSeconds(Instant at) {
    return BigDecimal.valueOf(at.toEpochMilli(), 3);
  }
}
