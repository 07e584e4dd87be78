package dev.holdfast.server.dialect.agents;

import dev.holdfast.api.Fields;
import dev.holdfast.api.Json;
import dev.holdfast.error.HoldfastException;
import dev.holdfast.job.Limits;
import dev.holdfast.job.Payload;
import java.util.Map;
import java.util.Optional;
import java.util.UUID;
import java.util.regex.Pattern;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.node.ObjectNode;

/** What is to be run: the arguments of an agents' job. */
record Simulation(
    String jobName,
    ConfigPath config,
    String image,
    Map<String, String> env,
    String experimentName,
    String runName) {

  static final String QUEUE = "agents";
  static final String KIND = "simulation";

  static final String DEFAULT_IMAGE = "calof/opeva_simulator:latest";
  private static final String CONTAINER_PREFIX = "opeva_job";
  private static final int NAME_IN_CONTAINER = 40;
  private static final int ID_IN_CONTAINER = 8;

  private static final String UNNAMED_EXPERIMENT = "UnnamedExperiment";
  private static final String UNNAMED_RUN = "UnnamedRun";

  private static final int IMAGE_CHARS = 300;
  private static final Pattern IMAGE = Pattern.compile("[A-Za-z0-9][A-Za-z0-9._/:@+-]*");
  private static final Pattern VARIABLE = Pattern.compile("[A-Za-z_][A-Za-z0-9_]*");

  Simulation {
    if (image.length() > IMAGE_CHARS || !IMAGE.matcher(image).matches()) {
      throw HoldfastException.invalid(
          "image", image, "a container image's name, at most " + IMAGE_CHARS + " characters");
    }
    env.forEach((name, value) -> {
      if (!VARIABLE.matcher(name).matches() || value.indexOf('\0') >= 0) {
        throw HoldfastException.invalid("env", name, "names of letters, digits and _, text values");
      }
    });
    env = Map.copyOf(env);
    jobName = Names.job(jobName);
  }

  /** Names that a configuration gives itself, or those of one that does not. */
  record Experiment(String name, String run) {

    static final Experiment UNNAMED = new Experiment(UNNAMED_EXPERIMENT, UNNAMED_RUN);

    static Experiment of(JsonNode config) {
      JsonNode experiment = config.path("experiment");
      return new Experiment(
          text(experiment.path("name"), UNNAMED_EXPERIMENT),
          text(experiment.path("run_name"), UNNAMED_RUN));
    }

    private static String text(JsonNode node, String otherwise) {
      String text = node.isValueNode() && !node.isNull() ? node.asString() : "";
      return text.isBlank() ? otherwise : Limits.cut(text.strip(), Limits.NAME_CHARS);
    }

    String jobName() {
      return name + "-" + run;
    }
  }

  /** As it is stored. */
  Payload payload() {
    ObjectNode json = Json.object();
    json.put("job_name", jobName);
    json.put("config_path", config.toString());
    json.put("image", image);
    ObjectNode variables = json.putObject("env");
    env.forEach(variables::put);
    json.put("experiment_name", experimentName);
    json.put("run_name", runName);
    return new Payload(Limits.payload("args", Json.write(json)));
  }

  /** From what is stored; empty where somebody enqueued by other means what is none. */
  static Optional<Simulation> read(String args) {
    try {
      Fields fields = Fields.of("args", Json.parse("args", args));
      Experiment experiment =
          new Experiment(
              fields.optionalText("experiment_name").orElse(UNNAMED_EXPERIMENT),
              fields.optionalText("run_name").orElse(UNNAMED_RUN));
      return Optional.of(
          new Simulation(
              fields.optionalText("job_name").orElseGet(experiment::jobName),
              ConfigPath.of("config_path", fields.text("config_path")),
              fields.optionalText("image").orElse(DEFAULT_IMAGE),
              fields.textMap("env"),
              experiment.name(),
              experiment.run()));
    } catch (HoldfastException e) {
      return Optional.empty();
    }
  }

  String containerName(UUID id) {
    String name =
        jobName.length() > NAME_IN_CONTAINER ? jobName.substring(0, NAME_IN_CONTAINER) : jobName;
    return String.join("_", CONTAINER_PREFIX, name, id.toString().substring(0, ID_IN_CONTAINER));
  }

  String command(UUID id) {
    return "--config /data/" + config + " --job_id " + id;
  }
}
