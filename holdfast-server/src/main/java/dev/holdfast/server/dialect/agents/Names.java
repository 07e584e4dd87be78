package dev.holdfast.server.dialect.agents;

import dev.holdfast.api.Fields;
import dev.holdfast.error.HoldfastException;
import dev.holdfast.server.AgentSettings;
import java.util.Optional;
import java.util.UUID;
import java.util.regex.Pattern;

/** Names that come from outside and become parts of files' names: checked before anything else. */
final class Names {

  private static final int MOST_CHARS = 128;

  private static final Pattern UNSAFE = Pattern.compile("[^A-Za-z0-9_.-]");

  private Names() {}

  /** An id as the server makes them; whatever else is nobody's. */
  static Optional<UUID> id(String text) {
    try {
      return Optional.of(Fields.uuid("job_id", text));
    } catch (HoldfastException e) {
      return Optional.empty();
    }
  }

  /** An agent's name, which is its host's as well. */
  static String host(String field, String name) {
    if (!AgentSettings.isHost(name)) {
      throw HoldfastException.invalid(field, name, AgentSettings.HOSTS);
    }
    return name;
  }

  /** A job's name, with what could mean something to a file system or a shell replaced. */
  static String job(String name) {
    String safe = UNSAFE.matcher(name).replaceAll("_");
    return safe.length() > MOST_CHARS ? safe.substring(0, MOST_CHARS) : safe;
  }
}
