package dev.holdfast.chaos.load;

import dev.holdfast.job.Kind;
import java.util.List;
import java.util.Map;
import tools.jackson.databind.JsonNode;

/**
 * What a chaos job is told.
 *
 * @param resources what it holds, to be told to the ledger; its target is among them
 * @param millis how long it works
 * @param failures fails in its first so many attempts
 * @param stubborn goes on to its effect when it is told to stop
 */
public record Chore(List<String> resources, int millis, int failures, boolean stubborn) {

  public static final Kind<Chore> KIND = Kind.of("chore", Chore.class);

  /** As the ledger wants to hear them. */
  public String listed() {
    return resources.isEmpty() ? "-" : String.join(",", resources);
  }

  /** As the environment of a container. */
  Map<String, String> variables() {
    return Map.of(
        "CHORE_RESOURCES", listed(),
        "CHORE_MILLIS", String.valueOf(millis),
        "CHORE_STUBBORN", String.valueOf(stubborn));
  }

  /** From there. */
  public static Chore ofVariables(JsonNode env) {
    String listed = env.path("CHORE_RESOURCES").asString();
    return new Chore(
        listed.equals("-") ? List.of() : List.of(listed.split(",")),
        Integer.parseInt(env.path("CHORE_MILLIS").asString()),
        0,
        Boolean.parseBoolean(env.path("CHORE_STUBBORN").asString()));
  }
}
