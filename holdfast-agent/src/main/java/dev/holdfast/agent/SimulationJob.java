package dev.holdfast.agent;

import dev.holdfast.api.Fields;
import dev.holdfast.api.Json;
import dev.holdfast.job.Payload;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.List;
import java.util.Optional;
import java.util.UUID;
import tools.jackson.databind.node.ArrayNode;
import tools.jackson.databind.node.ObjectNode;

/**
 * A job as the server hands it out.
 *
 * @param id as the server calls it
 * @param container arguments for the executor of containers
 */
record SimulationJob(String id, String configPath, Payload container) {

  static SimulationJob read(Fields said) {
    ObjectNode args = Json.object();
    args.put("image", said.text("image"));
    args.put("name", said.text("container_name"));
    ArrayNode command = args.putArray("command");
    words(said.optionalText("command").orElse("")).forEach(command::add);
    ArrayNode volumes = args.putArray("volumes");
    for (Fields volume : said.objects("volumes")) {
      volumes
          .addObject()
          .put("host", volume.text("host"))
          .put("container", volume.text("container"))
          .put("mode", volume.optionalText("mode").orElse("rw"));
    }
    ObjectNode env = args.putObject("env");
    said.textMap("env").forEach(env::put);
    return new SimulationJob(
        said.text("job_id"), said.text("config_path"), new Payload(Json.write(args)));
  }

  // As the document writes it: words with spaces between them, and no shell to look at them.
  private static List<String> words(String command) {
    return Arrays.stream(command.strip().split("\\s+", -1))
        .filter(word -> !word.isEmpty())
        .toList();
  }

  /** How the worker knows it. */
  UUID key() {
    return key(id);
  }

  static UUID key(String id) {
    return uuid(id).orElseGet(() -> UUID.nameUUIDFromBytes(id.getBytes(StandardCharsets.UTF_8)));
  }

  private static Optional<UUID> uuid(String id) {
    try {
      return Optional.of(UUID.fromString(id)).filter(uuid -> uuid.toString().equals(id));
    } catch (IllegalArgumentException e) {
      return Optional.empty();
    }
  }
}
