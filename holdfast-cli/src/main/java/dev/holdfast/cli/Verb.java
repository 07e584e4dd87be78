package dev.holdfast.cli;

import java.util.ArrayList;
import java.util.List;
import java.util.regex.Pattern;

/**
 * A line of the table of commands: what is asked of the API, and what of the answer people want to
 * see.
 *
 * @param words the noun and the verb, or one word alone
 * @param path after the API's own beginning, with its parameters in braces
 * @param parts what can be said beside them
 * @param columns of a list; none where one thing is shown
 */
record Verb(
    List<String> words,
    String method,
    String path,
    String summary,
    List<Part> parts,
    List<String> columns) {

  private static final Pattern PARAMETER = Pattern.compile("\\{(\\w+)}");

  /** What a value is, and so what people may write. */
  enum Type {
    TEXT("TEXT"),
    NUMBER("N"),
    /** There, or not. */
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

    /** In words, for who wrote something else. */
    String allowed() {
      return switch (this) {
        case NUMBER -> "a number";
        case CHOICE -> "true or false";
        default -> label;
      };
    }
  }

  /** Where in the request a value stands. */
  enum Place {
    QUERY,
    BODY
  }

  /**
   * Something that can be said.
   *
   * @param name the API's; with a dot, a field of an object
   * @param positional without the option's name
   */
  record Part(String name, Type type, Place place, boolean positional) {

    /** Its name alone. */
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

  /** A page of a list. */
  Verb paged() {
    return queries("limit", "after");
  }

  Verb says(String name, Type type) {
    return with(new Part(name, type, Place.BODY, false));
  }

  /** Must be said, and needs no name. */
  Verb takes(String name, Type type) {
    return with(new Part(name, type, Place.BODY, true));
  }

  private Verb with(Part part) {
    List<Part> more = new ArrayList<>(parts);
    more.add(part);
    return new Verb(words, method, path, summary, List.copyOf(more), columns);
  }

  /** The names in braces of its path. */
  List<String> parameters() {
    return PARAMETER.matcher(path).results().map(found -> found.group(1)).toList();
  }

  boolean takesBody() {
    return !method.equals("GET") && !method.equals("DELETE");
  }
}
