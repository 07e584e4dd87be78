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
      Set<String> names = secrets(json);
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
    Set<String> both = secrets(said);
    both.retainAll(secrets(stored));
    ObjectNode whole = said.deepCopy();
    restore(whole, stored, both);
    if (whole.path(ENV) instanceof ObjectNode env) {
      restore(env, stored.path(ENV), both);
    }
    return whole;
  }

  // The names of secrets; if the whole environment is one, the names of all variables.
  private static Set<String> secrets(JsonNode args) {
    Set<String> names = new HashSet<>();
    args.path(SECRETS).forEach(name -> names.add(name.asString("")));
    if (names.contains(ENV)) {
      names.addAll(args.path(ENV).propertyNames());
    }
    return names;
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
