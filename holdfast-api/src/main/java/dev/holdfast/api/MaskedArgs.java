package dev.holdfast.api;

import dev.holdfast.error.HoldfastException;
import dev.holdfast.job.Payload;
import java.util.HashSet;
import java.util.Set;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.node.ObjectNode;

/**
 * Masks secret arguments. A job names them in {@code secrets}; they are in {@code env} or at the
 * top level. Only the worker that has the job's lease gets their values.
 */
public final class MaskedArgs {

  private static final String MASK = "***";
  private static final String SECRETS = "secrets";
  private static final String ENV = "env";

  private MaskedArgs() {}

  public static Payload of(Payload args) {
    if (!args.json().contains("\"" + SECRETS + "\"")) {
      return args; // as nearly all are: unchanged
    }
    try {
      if (!(Json.parse("args", args.json()) instanceof ObjectNode json)) {
        return args;
      }
      Set<String> names = new HashSet<>();
      json.path(SECRETS).forEach(name -> names.add(name.asString("")));
      mask(json, names);
      if (json.path(ENV) instanceof ObjectNode env) {
        mask(env, names);
      }
      return new Payload(Json.write(json));
    } catch (HoldfastException e) {
      return Payload.NULL; // too deep to be searched for secrets
    }
  }

  /**
   * Restores arguments that a caller sends back as they were shown: a mask stands for the stored
   * value of that name, as long as both name it as a secret.
   */
  public static ObjectNode restored(ObjectNode said, JsonNode stored) {
    Set<String> names = new HashSet<>();
    stored.path(SECRETS).forEach(name -> names.add(name.asString("")));
    Set<String> both = new HashSet<>();
    said.path(SECRETS)
        .forEach(name -> {
          if (names.contains(name.asString(""))) {
            both.add(name.asString(""));
          }
        });
    ObjectNode whole = said.deepCopy();
    restore(whole, stored, both);
    if (whole.path(ENV) instanceof ObjectNode env) {
      restore(env, stored.path(ENV), both);
    }
    return whole;
  }

  private static void restore(ObjectNode json, JsonNode stored, Set<String> names) {
    for (String name : names) {
      JsonNode value = stored.path(name);
      if (json.path(name).asString("").equals(MASK) && !value.isMissingNode()) {
        json.set(name, value);
      }
    }
  }

  private static void mask(ObjectNode json, Set<String> names) {
    for (String name : names) {
      JsonNode value = json.get(name);
      if (value != null && !name.equals(SECRETS) && !name.equals(ENV)) {
        json.put(name, MASK);
      }
    }
  }
}
