package dev.holdfast.cli;

import java.util.ArrayList;
import java.util.List;
import java.util.regex.Pattern;

/**
 * A row of the table of commands: the request to the API, and what to show of the answer.
 *
 * @param words the noun and the verb, or a single word
 * @param path the path below the API's base, with its parameters in braces
 * @param parts further parameters and fields
 * @param columns the columns of a list; empty where a single object is shown
 */
record Verb(
    List<String> words,
    String method,
    String path,
    String summary,
    List<Part> parts,
    List<String> columns) {

  private static final Pattern PARAMETER = Pattern.compile("\\{(\\w+)}");

  /** The type of a value, which determines what people may write. */
  enum Type {
    TEXT("TEXT"),
    NUMBER("N"),
    /** Given or not, without a value. */
    FLAG(""),
    CHOICE("true|false"),
    JSON("JSON"),
    /** Separated by commas. */
    LIST("A,B");

    private final String label;

    Type(String label) {
      this.label = label;
    }

    String label() {
      return label;
    }

    /** What is allowed, in words, for error messages. */
    String allowed() {
      return switch (this) {
        case NUMBER -> "a number";
        case CHOICE -> "true or false";
        default -> label;
      };
    }
  }

  /** The place of a value in the request. */
  enum Place {
    QUERY,
    BODY
  }

  /**
   * A parameter or field of the request.
   *
   * @param name its name in the API; with a dot, a field of an object
   * @param positional whether it is given without the option's name
   */
  record Part(String name, Type type, Place place, boolean positional) {

    /** The name without the object's. */
    String field() {
      return name.substring(name.indexOf('.') + 1);
    }

    String option() {
      return "--" + field().replace('_', '-');
    }
  }

  static Verb get(String words, String path, String summary) {
    return of(words, "GET", path, summary);
  }

  static Verb of(String words, String method, String path, String summary) {
    return new Verb(List.of(words.split(" ", -1)), method, path, summary, List.of(), List.of());
  }

  Verb columns(String... names) {
    return new Verb(words, method, path, summary, parts, List.of(names));
  }

  Verb queries(String... names) {
    Verb verb = this;
    for (String name : names) {
      Type type = name.equals("limit") || name.equals("count") ? Type.NUMBER : Type.TEXT;
      verb = verb.with(new Part(name, type, Place.QUERY, false));
    }
    return verb;
  }

  /** Adds the parameters of a page. */
  Verb paged() {
    return queries("limit", "after");
  }

  Verb says(String name, Type type) {
    return with(new Part(name, type, Place.BODY, false));
  }

  /** Adds a required field that is given without a name. */
  Verb takes(String name, Type type) {
    return with(new Part(name, type, Place.BODY, true));
  }

  private Verb with(Part part) {
    List<Part> more = new ArrayList<>(parts);
    more.add(part);
    return new Verb(words, method, path, summary, List.copyOf(more), columns);
  }

  /** The names of the parameters in its path. */
  List<String> parameters() {
    return PARAMETER.matcher(path).results().map(found -> found.group(1)).toList();
  }

  boolean takesBody() {
    return !method.equals("GET") && !method.equals("DELETE");
  }
}
