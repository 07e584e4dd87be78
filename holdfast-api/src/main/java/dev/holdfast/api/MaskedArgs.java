package dev.holdfast.api;

import dev.holdfast.error.HoldfastException;
import dev.holdfast.job.Payload;
import java.util.HashSet;
import java.util.Set;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.node.ObjectNode;

/**
 * Arguments as people get to see them. Those that a job names in {@code secrets}, in {@code env} or
 * beside it, are for the worker that has its lease and for nobody else.
 */
public final class MaskedArgs {

  private static final String MASK = "***";

  private MaskedArgs() {}

  public static Payload of(Payload args) {
    if (!args.json().contains("\"secrets\"")) {
      return args; // as nearly all are: they go out letter by letter
    }
    try {
      if (!(Json.parse("args", args.json()) instanceof ObjectNode json)) {
        return args;
      }
      Set<String> names = new HashSet<>();
      json.path("secrets").forEach(name -> names.add(name.asString("")));
      mask(json, names);
      if (json.path("env") instanceof ObjectNode env) {
        mask(env, names);
      }
      return new Payload(Json.write(json));
    } catch (HoldfastException e) {
      return Payload.NULL; // too deep to be looked through, and so to be shown
    }
  }

  private static void mask(ObjectNode json, Set<String> names) {
    for (String name : names) {
      JsonNode value = json.get(name);
      if (value != null && !name.equals("secrets") && !name.equals("env")) {
        json.put(name, MASK);
      }
    }
  }
}
