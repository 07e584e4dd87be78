package dev.holdfast.server.tenancy;

import dev.holdfast.api.Json;
import java.util.Optional;
import tools.jackson.databind.JsonNode;

/**
 * Tells apart the names in a job's {@code secrets}: values of its own arguments, which are only
 * masked, and secrets of the worker that runs it, which not every submitter may name.
 */
public final class OwnSecrets {

  private OwnSecrets() {}

  /** The first name that is not an argument of the job itself, where its executor looks for it. */
  public static Optional<String> others(String executor, JsonNode args) {
    JsonNode own =
        switch (executor) {
          case "process", "container" -> args.path("env");
          case "ansible" -> args;
          default -> Json.object(); // calls have no values of their own
        };
    return args.path("secrets")
        .valueStream()
        .map(name -> name.asString(""))
        .filter(name -> !own.path(name).isString())
        .findFirst();
  }
}
