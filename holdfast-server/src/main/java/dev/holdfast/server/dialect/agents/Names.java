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
  private static final Pattern NOT_OF_HOSTS = Pattern.compile("[^A-Za-z0-9_.:@+-]");

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

  /**
   * A worker's name as the end of a file's name. An agent's stays as it is. Other workers may be
   * called anything, and get agents' jobs as well.
   */
  static String claimant(String worker) {
    return cut(NOT_OF_HOSTS.matcher(worker).replaceAll("_"));
  }

  /** A job's name, with what could mean something to a file system or a shell replaced. */
  static String job(String name) {
    return cut(UNSAFE.matcher(name).replaceAll("_"));
  }

  private static String cut(String safe) {
    return safe.length() > MOST_CHARS ? safe.substring(0, MOST_CHARS) : safe;
  }
}
