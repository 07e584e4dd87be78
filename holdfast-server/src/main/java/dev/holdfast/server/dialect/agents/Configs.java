package dev.holdfast.server.dialect.agents;

import static java.nio.charset.StandardCharsets.UTF_8;

import dev.holdfast.error.HoldfastException;
import dev.holdfast.executor.files.SharedDirectory;
import java.io.IOException;
import java.nio.file.FileSystemException;
import java.util.Optional;
import tools.jackson.core.JacksonException;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.node.ObjectNode;
import tools.jackson.dataformat.yaml.YAMLMapper;

/** The configurations under {@code configs/}, as YAML. */
final class Configs {

  private static final int MOST_BYTES = 1 << 20;

  private static final YAMLMapper YAML = new YAMLMapper();

  private final SharedDirectory shared;

  Configs(SharedDirectory shared) {
    this.shared = shared;
  }

  /** Puts one there, in place of what was there under that name. */
  void save(ConfigPath path, ObjectNode config) {
    byte[] text = yaml(config).getBytes(UTF_8);
    if (text.length > MOST_BYTES) {
      throw HoldfastException.invalid(
          "config", text.length + " bytes of YAML", "at most " + MOST_BYTES);
    }
    try {
      shared.write(path.fromRoot(), text);
    } catch (FileSystemException e) {
      throw HoldfastException.invalid("save_as", path, "a file, in directories, and no link");
    } catch (IOException e) {
      throw JobFiles.unwritable(e);
    }
  }

  private static String yaml(ObjectNode config) {
    try {
      return YAML.writeValueAsString(config);
    } catch (JacksonException e) {
      throw HoldfastException.invalid("config", "an object", "one that YAML can say");
    }
  }

  /** What one says; empty if that cannot be read: that it can be is for the agent to see to. */
  Optional<JsonNode> read(ConfigPath path) {
    try {
      return shared.read(path.fromRoot(), MOST_BYTES + 1).flatMap(Configs::parsed);
    } catch (FileSystemException e) {
      throw HoldfastException.invalid("config_path", path, "a file, in directories, and no link");
    } catch (IOException e) {
      throw JobFiles.unwritable(e);
    }
  }

  private static Optional<JsonNode> parsed(byte[] text) {
    if (text.length > MOST_BYTES) {
      return Optional.empty();
    }
    try {
      return Optional.of(YAML.readTree(new String(text, UTF_8)));
    } catch (JacksonException e) {
      return Optional.empty();
    }
  }
}
