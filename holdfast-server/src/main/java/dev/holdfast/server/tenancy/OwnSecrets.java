package dev.holdfast.server.tenancy;

import dev.holdfast.api.Json;
import java.util.Optional;
import tools.jackson.databind.JsonNode;

/**
 * What jobs name in {@code secrets}: values of their own, which are only to be masked, or secrets
 * of the worker that runs them. The second are somebody else's to give.
 */
public final class OwnSecrets {

  private OwnSecrets() {}

  /** The first name that is not of the job's own arguments, as its executor looks for them. */
  public static Optional<String> others(String executor, JsonNode args) {
    JsonNode own =
        switch (executor) {
          case "process", "container" -> args.path("env");
          case "ansible" -> args;
          default -> Json.object(); // calls have none of their own
        };
    return args.path("secrets")
        .valueStream()
        .map(name -> name.asString(""))
        .filter(name -> !own.path(name).isString())
        .findFirst();
  }
}
