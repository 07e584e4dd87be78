package dev.holdfast.server;

import static org.assertj.core.api.Assertions.assertThat;

import dev.holdfast.api.Json;
import dev.holdfast.server.Caller.Reply;
import dev.holdfast.server.auth.Role;
import dev.holdfast.testkit.TestTenant;
import java.net.URLEncoder;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.SplittableRandom;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.ConcurrentSkipListMap;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.random.RandomGenerator;
import java.util.regex.Pattern;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.RegisterExtension;
import tools.jackson.databind.JsonNode;

/**
 * Requests made up by dice from the server's own OpenAPI document, by every role. {@code
 * -Dholdfast.hostile.requests=100000} for a longer sweep, {@code -Dholdfast.hostile.seed} for other
 * dice.
 */
class HostileSweepTest {

  private static final int REQUESTS = Integer.getInteger("holdfast.hostile.requests", 3_000);
  private static final long SEED = Long.getLong("holdfast.hostile.seed", 20_261_117L);
  private static final int THREADS = 4;
  private static final int MOST_SHOWN = 20;

  private static final Pattern UUID =
      Pattern.compile("[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}");

  private static final List<Role> ROLES =
      List.of(Role.ADMIN, Role.OPERATOR, Role.WORKER, Role.SUBMITTER, Role.VIEWER);

  private static final List<String> TEXTS =
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
  private record Operation(String method, String path, List<String> queries, List<String> fields) {}

  @RegisterExtension final TestTenant tenant = new TestTenant();
  @RegisterExtension final TestTenant other = new TestTenant();

  private final Map<Integer, AtomicInteger> statuses = new ConcurrentSkipListMap<>();
  private final Set<String> idsTold = ConcurrentHashMap.newKeySet();
  private final ConcurrentLinkedQueue<String> wrong = new ConcurrentLinkedQueue<>();

  @Test
  @Timeout(value = 2, unit = TimeUnit.HOURS)
  void no_request_fails_the_server_and_nothing_is_stored_that_it_did_not_say() throws Exception {
    List<Operation> operations = operations();
    List<Thread> threads =
        IntStream.range(0, THREADS)
            .mapToObj(number ->
                Thread.ofPlatform().start(() -> sweep(operations, REQUESTS / THREADS, number)))
            .toList();
    for (Thread thread : threads) {
      thread.join();
    }

    System.out.printf(
        "Hostile sweep: seed %d, %d operations, answers by status %s, %d wrong%n",
        SEED, operations.size(), statuses, wrong.size());
    assertThat(wrong.stream().limit(MOST_SHOWN)).isEmpty();
    assertThat(statuses.values().stream().mapToInt(AtomicInteger::get).sum())
        .isEqualTo(REQUESTS / THREADS * THREADS);
    assertThat(statuses).containsKeys(200, 201, 400, 403, 404);
    assertThat(storedIds()).isSubsetOf(idsTold);
    assertThat(tenant.invariants().check()).isEmpty();
    assertThat(other.query("SELECT id FROM {schema}.job_all")).isEmpty();
  }

  /** Of jobs that nobody's schedule made: somebody was told each of them. */
  private List<String> storedIds() {
    return tenant
        .query(
            """
            SELECT id::text AS id FROM {schema}.job
             WHERE unique_key IS NULL OR unique_key NOT LIKE 'slot:%'
            """)
        .stream()
        .map(row -> String.valueOf(row.get("id")))
        .toList();
  }

  private List<Operation> operations() {
    Caller viewer = TestServer.shared().as(Role.VIEWER, tenant.name());
    JsonNode document = viewer.get("/openapi.json").json();
    List<Operation> operations = new ArrayList<>();
    document
        .path("paths")
        .properties()
        .forEach(path ->
            path.getValue()
                .properties()
                .forEach(method ->
                    operations.add(
                        operation(
                            path.getKey(),
                            method.getKey().toUpperCase(Locale.ROOT),
                            method.getValue()))));
    assertThat(operations).hasSizeGreaterThan(50);
    // One answers for as long as somebody listens, and one would take our own tokens away.
    return operations.stream()
        .filter(each -> !each.path.endsWith("/events"))
        .filter(each -> !(each.method.equals("DELETE") && each.path.contains("/tokens/")))
        .toList();
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

  private void sweep(List<Operation> operations, int requests, int thread) {
    RandomGenerator dice = new SplittableRandom(SEED * 31 + thread);
    List<Caller> callers =
        ROLES.stream().map(role -> TestServer.shared().as(role, tenant.name())).toList();
    for (int i = 0; i < requests; i++) {
      Operation operation = dice.nextInt(10) == 0 ? enqueue(operations) : pick(operations, dice);
      String path = path(operation, dice);
      Optional<String> body =
          operation.fields.isEmpty() ? Optional.empty() : Optional.of(body(operation, dice));
      Caller caller = dice.nextBoolean() ? callers.getFirst() : pick(callers, dice);
      Reply reply = caller.send(operation.method, path, body);
      statuses.computeIfAbsent(reply.status(), unseen -> new AtomicInteger()).incrementAndGet();
      if (reply.status() < 300) {
        UUID.matcher(reply.text()).results().forEach(found -> idsTold.add(found.group()));
      }
      if (reply.status() >= 500
          || reply.text().contains("Exception")
          || reply.text().contains("\tat ")) {
        wrong.add(
            "%s %s %s answers %d: %s"
                .formatted(operation.method, path, body.orElse(""), reply.status(), reply.text()));
      }
    }
  }

  private static Operation enqueue(List<Operation> operations) {
    return operations.stream()
        .filter(each -> each.method.equals("POST") && each.path.equals("/api/v1/jobs"))
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
      return (dice.nextInt(4) == 0 ? other : tenant).name().value();
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
    return field.equals("kind") || field.equals("queue") ? quoted(text(dice)) : value(dice, 3);
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

  private static <T> T pick(List<T> all, RandomGenerator dice) {
    return all.get(dice.nextInt(all.size()));
  }
}
