package dev.holdfast.server.tenancy;

import dev.holdfast.api.Fields;
import dev.holdfast.api.Json;
import dev.holdfast.api.MaskedArgs;
import dev.holdfast.error.HoldfastException;
import dev.holdfast.job.Limits;
import dev.holdfast.job.Payload;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.node.ArrayNode;
import tools.jackson.databind.node.ObjectNode;

/**
 * Arguments of the executor that a kind fixes for its jobs, so that submitters cannot choose them.
 * In a command, {@code {name}} is left open for an argument of the job. It stands for a whole
 * element of {@code argv} or a whole variable, so no shell ever interprets it.
 */
public record KindSettings(String executor, ObjectNode fixed) {

  private static final Pattern OPEN = Pattern.compile("\\{([A-Za-z_][A-Za-z0-9_]*)}");
  private static final String PROCESS = "process";
  private static final String CONTAINER = "container";
  private static final String ANSIBLE = "ansible";
  private static final String HTTP = "http";
  private static final String SECRETS = "secrets";
  private static final String OPENED = "open";

  // What a job may set for any container: limits of its usage. Everything else could be a command,
  // even a variable: some programs execute what BASH_ENV and the like contain.
  private static final Set<String> HARMLESS = Set.of("memory_mb", "cpus", "pids");

  // The one argument that each executor requires. The executor itself checks the rest.
  private static final Map<String, String> NEEDED =
      Map.of(PROCESS, "argv", CONTAINER, "image", HTTP, "url");

  public KindSettings {
    String needed = NEEDED.get(executor);
    if (needed != null && fixed.path(needed).isMissingNode()) {
      throw HoldfastException.invalid(
          "settings." + needed, "missing", "given, for the executor " + executor);
    }
    Limits.payload("settings", Json.write(fixed));
    if (executor.equals(PROCESS)) {
      checkCommand(named("settings", fixed));
    }
    if (executor.equals(CONTAINER)) {
      checkOpened(named("settings", fixed));
    }
  }

  private static void checkOpened(Fields settings) {
    for (String name : settings.texts(OPENED)) {
      if (settings.says(name)) {
        throw HoldfastException.invalid("settings.open", name, "what the settings do not fix");
      }
    }
  }

  private static void checkCommand(Fields settings) {
    settings.only(Set.of("argv", "cwd", "env", "stdin", "secrets", "shell", "umask", "user"));
    List<String> argv = settings.texts("argv");
    if (argv.isEmpty() || argv.getFirst().isEmpty() || isOpen(argv.getFirst())) {
      throw HoldfastException.invalid("settings.argv", argv, "a program, and its arguments");
    }
    boolean shell = settings.flag("shell");
    for (String element : argv) {
      boolean inside = !isOpen(element) && OPEN.matcher(element).find();
      if (inside || (shell && isOpen(element))) {
        throw HoldfastException.invalid(
            "settings.argv",
            element,
            shell
                ? "no {name} for a shell to read; put it into env"
                : "{name} as an element of its own");
      }
    }
    settings
        .textMap("env")
        .forEach((name, value) -> {
          if (!isOpen(value) && OPEN.matcher(value).find()) {
            throw HoldfastException.invalid(
                "settings.env." + name, value, "{name} as the whole of a variable");
          }
        });
    settings.optionalText("cwd");
    settings.optionalText("stdin");
    settings.texts("secrets");
  }

  // Makes errors name the whole path of a field.
  private static Fields named(String name, JsonNode json) {
    ObjectNode outer = Json.object();
    outer.set(name, json);
    return Fields.of("body", outer).object(name);
  }

  private static boolean isOpen(String text) {
    return OPEN.matcher(text).matches();
  }

  /**
   * The arguments for the executor, from those that the submitter gives.
   *
   * @param freely whether the submitter could also run an arbitrary container
   */
  public Payload args(JsonNode said, boolean freely) {
    Fields given = named("args", said);
    ObjectNode args = executor.equals(PROCESS) ? command(given) : merged(given, freely);
    return new Payload(Limits.payload("args", Json.write(args)));
  }

  private ObjectNode merged(Fields given, boolean freely) {
    ObjectNode args = fixed.deepCopy();
    Set<String> opened = executor.equals(CONTAINER) ? opened() : Set.of();
    if (executor.equals(CONTAINER)) {
      args.remove(OPENED);
    }
    for (String name : given.json().propertyNames()) {
      if (args.has(name)) {
        throw HoldfastException.invalid("args." + name, "given", "not given, the kind fixes it");
      }
      boolean closed = executor.equals(CONTAINER) && !freely && !HARMLESS.contains(name);
      if (closed && !opened.contains(name)) {
        throw HoldfastException.invalid(
            "args." + name, "given", "not given, the kind does not leave it open");
      }
      args.set(name, given.json().get(name));
    }
    if (!opened.contains(SECRETS)) {
      requireOwnSecrets(given.json());
    }
    if (executor.equals(HTTP) && !freely) {
      PlacedSecrets.require(fixed, given.json());
    }
    return args;
  }

  private void requireOwnSecrets(JsonNode args) {
    OwnSecrets.others(executor, args)
        .ifPresent(name -> {
          throw HoldfastException.invalid(
              "args." + SECRETS,
              name,
              "names of the job's own; the kind says which of the worker's it is given");
        });
  }

  /** Whether the job has the variables that the kind fixes for its playbook. */
  boolean agreesWith(Payload args) {
    if (!executor.equals(ANSIBLE)) {
      return true;
    }
    JsonNode said = Json.parse("args", args.json());
    return fixed.properties().stream()
        .allMatch(each -> each.getValue().equals(said.path(each.getKey())));
  }

  private Set<String> opened() {
    return Set.copyOf(named("settings", fixed).texts(OPENED));
  }

  /** The settings as shown to people, with secrets masked. */
  public JsonNode shown() {
    return Json.parse("settings", toString());
  }

  /** The settings as stored. */
  String json() {
    return Json.write(fixed);
  }

  private ObjectNode command(Fields given) {
    given.only(open());
    ObjectNode args = fixed.deepCopy();
    ArrayNode argv = args.putArray("argv");
    for (JsonNode element : fixed.path("argv")) {
      fill(element.stringValue(), given).forEach(argv::add);
    }
    if (fixed.path("env") instanceof ObjectNode variables) {
      ObjectNode env = args.putObject("env");
      variables
          .properties()
          .forEach(variable ->
              env.put(variable.getKey(), one(variable.getValue().stringValue(), given)));
    }
    return args;
  }

  /** The names of the arguments that are left open. */
  private Set<String> open() {
    Set<String> names = new TreeSet<>();
    List<JsonNode> places = new ArrayList<>();
    fixed.path("argv").forEach(places::add);
    fixed.path("env").forEach(places::add);
    for (JsonNode place : places) {
      Matcher name = OPEN.matcher(place.stringValue());
      if (name.matches()) {
        names.add(name.group(1));
      }
    }
    return names;
  }

  // A list becomes one element per item.
  private static List<String> fill(String element, Fields given) {
    Matcher open = OPEN.matcher(element);
    if (!open.matches()) {
      return List.of(element);
    }
    JsonNode value = value(open.group(1), given);
    return value.isArray()
        ? value.valueStream().map(each -> text(open.group(1), each)).toList()
        : List.of(text(open.group(1), value));
  }

  private static String one(String variable, Fields given) {
    Matcher open = OPEN.matcher(variable);
    return open.matches() ? text(open.group(1), value(open.group(1), given)) : variable;
  }

  private static JsonNode value(String name, Fields given) {
    return given.any(name).orElseThrow(() -> given.missing(name, "text, for the kind's command"));
  }

  private static String text(String name, JsonNode value) {
    if (value.isString() && value.stringValue().indexOf('\0') < 0) {
      return value.stringValue();
    }
    if (value.isNumber() || value.isBoolean()) {
      return value.asString();
    }
    throw HoldfastException.invalid("args." + name, value, "text, a number, true or false");
  }

  @Override
  public String toString() {
    return MaskedArgs.of(new Payload(json())).json();
  }
}
