package dev.holdfast.cli;

import dev.holdfast.api.Json;
import dev.holdfast.cli.Verb.Part;
import dev.holdfast.cli.Verb.Place;
import dev.holdfast.error.HoldfastException;
import java.net.URLEncoder;
import java.nio.charset.StandardCharsets;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.Callable;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Model.OptionSpec;
import picocli.CommandLine.Model.PositionalParamSpec;
import picocli.CommandLine.ParseResult;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.node.ObjectNode;

/** A line of the table as a command: sends the request, and prints the answer. */
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
      spec.addPositional(positional(index++, parameter));
    }
    for (Part part : verb.parts()) {
      if (part.positional()) {
        spec.addPositional(positional(index++, part.name()));
      } else {
        spec.addOption(option(part));
      }
    }
    spec.addMixin("remote", CommandSpec.forAnnotatedObject(remote));
  }

  static CommandSpec of(Verb verb) {
    return new VerbCommand(verb).spec;
  }

  private static PositionalParamSpec positional(int index, String name) {
    return PositionalParamSpec.builder()
        .index(String.valueOf(index))
        .paramLabel(name.toUpperCase(java.util.Locale.ROOT))
        .type(String.class)
        .required(true)
        .build();
  }

  private static OptionSpec option(Part part) {
    return part.type() == Verb.Type.FLAG
        ? OptionSpec.builder(part.option()).type(boolean.class).arity("0").build()
        : OptionSpec.builder(part.option())
            .type(String.class)
            .arity("1")
            .paramLabel(part.type().label())
            .build();
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
          query.put(part.name(), text);
        } else {
          put(body, part, read(part, text));
        }
      });
    }
    ObjectNode answer =
        remote
            .client()
            .ask(
                verb.method(),
                path,
                query,
                verb.takesBody() ? Optional.of(body) : Optional.empty());
    new Printer(spec.commandLine().getOut(), remote.output()).print(answer, verb.columns());
    return verb.words().contains("invariants") && !answer.path("violations").isEmpty() ? 1 : 0;
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

  private static JsonNode json(Part part, String text) {
    try {
      return Json.parse(part.option(), text);
    } catch (HoldfastException e) {
      throw HoldfastException.badConfig(part.option(), text, part.type().label());
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
