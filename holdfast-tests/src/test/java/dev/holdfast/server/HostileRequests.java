package dev.holdfast.server;

import static org.assertj.core.api.Assertions.assertThat;

import dev.holdfast.api.Json;
import dev.holdfast.server.Caller.Reply;
import dev.holdfast.tenant.TenantName;
import java.net.URLEncoder;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.random.RandomGenerator;
import java.util.regex.Pattern;
import tools.jackson.databind.JsonNode;

/**
 * Requests made up by dice from a server's own OpenAPI document: broken, too long, too deep, of
 * another type, about things that there are and things that there are not. Thread-safe.
 */
final class HostileRequests {

  private static final Pattern UUID =
      Pattern.compile("[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}");

  /** The routes that enqueue, wherever they are offered. All others know jobs that are there. */
  private static final Set<String> ENQUEUE =
      Set.of(
          "POST /api/v1/jobs",
          "POST /api/v1/jobs/batch",
          "POST /api/v1/schedules/{name}/trigger",
          "POST /run-simulation",
          "POST /targets/{target_id}/jobs");

  private static final Pattern WHEREVER = Pattern.compile("(?<= )/t/\\{tenant}(?=/)|/$");

  // Where readers of JSON stop is somewhere in the hundreds; far beyond it one that goes down by
  // calling itself has no room left.
  private static final List<Integer> DEPTHS =
      List.of(5, 20, 100, 400, 495, 496, 497, 498, 499, 500, 501, 502, 999, 1_000, 1_001, 20_000);

  static final List<String> TEXTS =
      List.of(
          "",
          "a",
          "default",
          "0",
          "-1",
          "1",
          "50",
          "1e400",
          "9223372036854775808",
          "NaN",
          "true",
          "null",
          "queued",
          "process",
          "2026-02-30T25:00:00Z",
          "2026-11-17T09:00:00Z",
          "*/5 * * * *",
          "| | | | |",
          "../../../etc/passwd",
          "..\\..\\x",
          "'; DROP TABLE job; --",
          "$$;SELECT pg_sleep(9)$$",
          "<script>alert(1)</script>",
          "{{7*7}}${7*7}",
          "\r\nX-Evil: 1",
          "a\u0000b",
          "\u202e\ufeff\u0301",
          "\ud83d\ude00",
          "x".repeat(5_000),
          "http://169.254.169.254/latest",
          "file:///etc/passwd",
          "holdfast.webhooks",
          "slot:a@2026-01-01T00:00:00Z");

  /** One line of the document. */
  record Operation(String method, String path, List<String> queries, List<String> fields) {

    boolean enqueues() {
      return ENQUEUE.contains(anywhere());
    }

    private String anywhere() {
      return WHEREVER.matcher(toString()).replaceAll("");
    }

    @Override
    public String toString() {
      return method + " " + path;
    }
  }

  record Made(Operation operation, String path, Optional<String> body) {

    String method() {
      return operation.method;
    }

    Reply by(Caller caller) {
      return caller.send(method(), path, body);
    }

    @Override
    public String toString() {
      String all = method() + " " + path + body.map(given -> " " + given).orElse("");
      return all.length() > 1_000 ? all.substring(0, 1_000) + "…" : all;
    }
  }

  private final List<Operation> operations;
  private final TenantName own;
  private final TenantName other;
  private final Set<String> idsTold = ConcurrentHashMap.newKeySet();
  private final Set<String> enqueued = ConcurrentHashMap.newKeySet();

  /**
   * All that the document has.
   *
   * @param not operations that are left out
   */
  HostileRequests(Caller reader, Set<String> not, TenantName own, TenantName other) {
    this.own = own;
    this.other = other;
    List<Operation> all = new ArrayList<>();
    reader
        .get("/openapi.json")
        .json()
        .path("paths")
        .properties()
        .forEach(path ->
            path.getValue()
                .properties()
                .forEach(method ->
                    all.add(
                        operation(
                            path.getKey(),
                            method.getKey().toUpperCase(Locale.ROOT),
                            method.getValue()))));
    assertThat(all).hasSizeGreaterThan(50);
    assertThat(all.stream().map(Operation::toString)).containsAll(not);
    assertThat(all.stream().map(Operation::anywhere)).containsAll(ENQUEUE);
    this.operations = all.stream().filter(each -> !not.contains(each.toString())).toList();
  }

  private static Operation operation(String path, String method, JsonNode json) {
    List<String> queries = new ArrayList<>();
    for (JsonNode parameter : json.path("parameters")) {
      if (parameter.path("in").asString().equals("query")
          && !parameter.path("name").asString().equals("follow")) {
        queries.add(parameter.path("name").asString());
      }
    }
    JsonNode properties =
        json.path("requestBody")
            .path("content")
            .path("application/json")
            .path("schema")
            .path("properties");
    return new Operation(method, path, queries, List.copyOf(properties.propertyNames()));
  }

  int operations() {
    return operations.size();
  }

  /** The ids of jobs, as those were told who enqueued them. */
  Set<String> enqueued() {
    return enqueued;
  }

  /** Remembers what it was told: some of the next are about that. */
  void heard(Made request, Reply reply) {
    if (reply.status() < 300) {
      UUID.matcher(reply.text()).results().forEach(found -> idsTold.add(found.group()));
      if (request.operation.enqueues()) {
        enqueued(reply.json());
      }
    }
  }

  private void enqueued(JsonNode answer) {
    answer.path("jobs").forEach(this::enqueued);
    for (String field : List.of("id", "job_id")) {
      answer.path(field).stringValueOpt().ifPresent(enqueued::add);
    }
  }

  Made next(RandomGenerator dice) {
    Operation operation = dice.nextInt(10) == 0 ? enqueue() : pick(operations, dice);
    return new Made(
        operation,
        path(operation, dice),
        operation.fields.isEmpty() ? Optional.empty() : Optional.of(body(operation, dice)));
  }

  private Operation enqueue() {
    return operations.stream()
        .filter(each -> each.toString().equals("POST /api/v1/jobs"))
        .findFirst()
        .orElseThrow();
  }

  private String path(Operation operation, RandomGenerator dice) {
    StringBuilder path = new StringBuilder();
    for (String part : operation.path.substring(1).split("/", -1)) {
      path.append('/').append(part.startsWith("{") ? encoded(parameter(part, dice)) : part);
    }
    char before = '?';
    for (String query : operation.queries) {
      if (dice.nextInt(3) == 0) {
        path.append(before).append(query).append('=').append(encoded(text(dice)));
        before = '&';
      }
    }
    return path.toString();
  }

  private String parameter(String name, RandomGenerator dice) {
    if (name.equals("{tenant}") && dice.nextBoolean()) {
      return (dice.nextInt(4) == 0 ? other : own).value();
    }
    List<String> known = name.contains("id") ? List.copyOf(idsTold) : List.of();
    String text = known.isEmpty() || dice.nextInt(4) == 0 ? text(dice) : pick(known, dice);
    return text.isEmpty() ? "x" : text;
  }

  private String body(Operation operation, RandomGenerator dice) {
    StringBuilder body = new StringBuilder("{");
    for (String field : operation.fields) {
      // Two or so: of many, one is always wrong.
      if (dice.nextInt(operation.fields.size()) < 2
          || (field.equals("kind") && dice.nextInt(5) > 0)) {
        body.append(body.length() > 1 ? ", " : "")
            .append(quoted(field))
            .append(": ")
            // Nobody has time to wait with the server.
            .append(field.contains("wait") ? quoted(text(dice)) : value(field, dice));
      }
    }
    body.append("}");
    if (dice.nextInt(20) == 0) {
      body.setCharAt(dice.nextInt(body.length()), (char) dice.nextInt(32, 256));
    }
    return body.toString();
  }

  private String value(String field, RandomGenerator dice) {
    if (field.equals("kind") || field.equals("queue")) {
      return quoted(text(dice));
    }
    return dice.nextInt(25) == 0 ? deep(dice) : value(dice, 3);
  }

  private static String deep(RandomGenerator dice) {
    int depth = pick(DEPTHS, dice);
    boolean list = dice.nextBoolean();
    return (list ? "[" : "{\"a\": ").repeat(depth) + "1" + (list ? "]" : "}").repeat(depth);
  }

  private String value(RandomGenerator dice, int depth) {
    return switch (dice.nextInt(depth > 0 ? 12 : 8)) {
      case 0 -> "null";
      case 1 -> String.valueOf(dice.nextBoolean());
      case 2 -> String.valueOf(dice.nextInt(-5, 100));
      case 3 -> String.valueOf(dice.nextLong());
      case 4 ->
          pick(
              List.of(
                  "1e400", "-0", "1E-400", "0.1", "12345678901234567890123", "7e" + "7".repeat(20)),
              dice);
      case 5, 6 -> quoted(text(dice));
      case 7 -> idsTold.isEmpty() ? quoted("x") : quoted(pick(List.copyOf(idsTold), dice));
      case 8, 9 -> "[" + value(dice, depth - 1) + ", " + value(dice, depth - 1) + "]";
      case 10 -> "{" + quoted(text(dice)) + ": " + value(dice, depth - 1) + "}";
      default -> "{\"argv\": " + value(dice, depth - 1) + "}";
    };
  }

  private static String quoted(String text) {
    return Json.object().put("text", text).path("text").toString();
  }

  private static String text(RandomGenerator dice) {
    return pick(TEXTS, dice);
  }

  private static String encoded(String text) {
    return URLEncoder.encode(text, StandardCharsets.UTF_8).replace("+", "%20");
  }

  static <T> T pick(List<T> all, RandomGenerator dice) {
    return all.get(dice.nextInt(all.size()));
  }
}
