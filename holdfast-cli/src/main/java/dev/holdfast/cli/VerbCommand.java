package dev.holdfast.cli;

import dev.holdfast.api.HoldfastClient;
import dev.holdfast.api.Json;
import dev.holdfast.cli.Verb.Part;
import dev.holdfast.cli.Verb.Place;
import dev.holdfast.error.ErrorCode;
import dev.holdfast.error.HoldfastException;
import java.net.URLEncoder;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.Callable;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Model.OptionSpec;
import picocli.CommandLine.Model.PositionalParamSpec;
import picocli.CommandLine.ParseResult;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.node.ObjectNode;

/** A command made from a row of the table: sends the request, and prints the answer. */
final class VerbCommand implements Callable<Integer> {

  private final Verb verb;
  private final Remote remote = new Remote();
  private final CommandSpec spec;

  private VerbCommand(Verb verb) {
    this.verb = verb;
    this.spec = CommandSpec.wrapWithoutInspection(this);
    spec.name(verb.words().getLast());
    spec.usageMessage().description(verb.summary());
    spec.mixinStandardHelpOptions(true);
    int index = 0;
    for (String parameter : verb.parameters()) {
      spec.addPositional(positional(index++, parameter, parameterMeaning(parameter)).build());
    }
    for (Part part : verb.parts()) {
      if (part.positional()) {
        List<String> choices = Words.choices(part);
        spec.addPositional(
            positional(index++, part.name(), described(part))
                .completionCandidates(choices)
                .build());
      } else {
        spec.addOption(option(part));
      }
    }
    spec.addMixin("remote", CommandSpec.forAnnotatedObject(remote));
  }

  static CommandSpec of(Verb verb) {
    return new VerbCommand(verb).spec;
  }

  private String parameterMeaning(String parameter) {
    String noun = verb.words().getFirst();
    return parameter.equals("id")
        ? "The " + noun.substring(0, noun.length() - 1) + "'s id."
        : Words.meaning(parameter);
  }

  private static PositionalParamSpec.Builder positional(int index, String name, String meaning) {
    return PositionalParamSpec.builder()
        .index(String.valueOf(index))
        .paramLabel(name.toUpperCase(Locale.ROOT))
        .description(escaped(meaning))
        .type(String.class)
        .required(true);
  }

  private static OptionSpec option(Part part) {
    OptionSpec.Builder option =
        OptionSpec.builder(part.option()).description(escaped(described(part)));
    return part.type() == Verb.Type.FLAG
        ? option.type(boolean.class).arity("0").build()
        : option
            .type(String.class)
            .arity("1")
            .paramLabel(part.type().label())
            .completionCandidates(Words.choices(part))
            .build();
  }

  private static String described(Part part) {
    List<String> choices = Words.choices(part);
    return Words.meaning(part)
        + (choices.isEmpty() ? "" : " One of: " + String.join(", ", choices) + ".");
  }

  // picocli uses descriptions as format strings.
  private static String escaped(String text) {
    return text.replace("%", "%%");
  }

  @Override
  public Integer call() {
    ParseResult said = spec.commandLine().getParseResult();
    int index = 0;
    String path = verb.path();
    for (String parameter : verb.parameters()) {
      String value = said.matchedPositionalValue(index++, "");
      path = path.replace("{" + parameter + "}", encoded(value));
    }
    Map<String, String> query = new LinkedHashMap<>();
    ObjectNode body = Json.object();
    for (Part part : verb.parts()) {
      Optional<String> value =
          part.positional()
              ? Optional.of(said.matchedPositionalValue(index++, ""))
              : said(said, part);
      value.ifPresent(text -> {
        if (part.place() == Place.QUERY) {
          checkChoice(part, text);
          query.put(part.name(), text);
        } else {
          put(body, part, read(part, text));
        }
      });
    }
    ObjectNode answer = ask(path, query, body);
    new Printer(spec.commandLine().getOut(), remote.output()).print(answer, verb.columns());
    return verb.words().contains("invariants") && !answer.path("violations").isEmpty() ? 1 : 0;
  }

  private ObjectNode ask(String path, Map<String, String> query, ObjectNode body) {
    try (HoldfastClient client = remote.client()) {
      try {
        return client.ask(
            verb.method(), path, query, verb.takesBody() ? Optional.of(body) : Optional.empty());
      } catch (HoldfastException e) {
        throw withNearest(e, client);
      }
    }
  }

  private HoldfastException withNearest(HoldfastException e, HoldfastClient client) {
    if (e.code() != ErrorCode.NOT_FOUND || !verb.path().endsWith("/{name}")) {
      return e;
    }
    String name = spec.commandLine().getParseResult().matchedPositionalValue(0, "");
    return new HoldfastException(e.code(), e.getMessage() + Nearest.hint(name, names(client)), e);
  }

  /** The names of the same type that exist, if they can be listed. */
  private List<String> names(HoldfastClient client) {
    String list = verb.path().substring(0, verb.path().lastIndexOf('/'));
    try {
      List<String> names = new ArrayList<>();
      for (JsonNode field : client.ask("GET", list, Map.of(), Optional.empty()).values()) {
        field.forEach(each -> names.add(each.path("name").asString("")));
      }
      return names;
    } catch (HoldfastException e) {
      return List.of(); // only the first error is reported
    }
  }

  private static String encoded(String part) {
    return URLEncoder.encode(part, StandardCharsets.UTF_8).replace("+", "%20");
  }

  private static Optional<String> said(ParseResult said, Part part) {
    if (!said.hasMatchedOption(part.option())) {
      return Optional.empty();
    }
    Object value = said.matchedOptionValue(part.option(), "");
    return Optional.of(String.valueOf(value));
  }

  private static JsonNode read(Part part, String text) {
    checkChoice(part, text);
    return switch (part.type()) {
      case TEXT -> Json.object().put("text", text).get("text");
      case FLAG -> Json.parse(part.option(), "true");
      case LIST -> {
        var list = Json.object().putArray("list");
        List.of(text.split(",", -1)).forEach(list::add);
        yield list;
      }
      case NUMBER, CHOICE, JSON -> json(part, text);
    };
  }

  private static void checkChoice(Part part, String text) {
    List<String> choices = Words.choices(part);
    if (!choices.isEmpty() && !choices.contains(text)) {
      throw new HoldfastException(
          ErrorCode.INVALID_ARGUMENT,
          "%s is \"%s\"; allowed: %s.%s"
              .formatted(
                  part.positional() ? part.field() : part.option(),
                  text,
                  String.join(", ", choices),
                  Nearest.hint(text, choices)));
    }
  }

  private static JsonNode json(Part part, String text) {
    try {
      return Json.parse(part.option(), text);
    } catch (HoldfastException e) {
      throw HoldfastException.invalid(part.option(), text, part.type().allowed());
    }
  }

  private static void put(ObjectNode body, Part part, JsonNode value) {
    int dot = part.name().indexOf('.');
    if (dot < 0) {
      body.set(part.name(), value);
    } else {
      body.withObject("/" + part.name().substring(0, dot))
          .set(part.name().substring(dot + 1), value);
    }
  }
}
