package dev.holdfast.codec;

import dev.holdfast.error.HoldfastException;
import dev.holdfast.job.Policy;
import dev.holdfast.job.Policy.OnFailure;
import dev.holdfast.job.Policy.OnLeaseLost;
import dev.holdfast.job.Policy.OnStop;
import dev.holdfast.job.PolicyOverrides;
import dev.holdfast.job.RetryPolicy;
import dev.holdfast.job.TimeLimit;
import dev.holdfast.job.TraceContext;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Optional;
import java.util.Set;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import tools.jackson.core.JacksonException;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;
import tools.jackson.databind.node.ObjectNode;

/**
 * Reads and writes policies as JSON, in the format of the API: {@code {"max_attempts": 5, "retry":
 * {"type": "exponential", "base_seconds": 30}, "timeout_seconds": null}}. An absent key is a
 * setting that is not set; a timeout of null is set: to no limit.
 */
public final class PolicyJson {

  private static final Logger log = LoggerFactory.getLogger(PolicyJson.class);

  private static final Set<String> KEYS =
      Set.of(
          "max_attempts",
          "retry",
          "timeout_seconds",
          "lease_seconds",
          "on_lease_lost",
          "on_stop",
          "on_failure",
          "token_limit",
          "target_count");
  // Only a job has a trace: the jobs of a queue do not all belong to one.
  private static final Set<String> KEYS_OF_JOB =
      Stream.concat(KEYS.stream(), Stream.of("traceparent", "tracestate"))
          .collect(Collectors.toUnmodifiableSet());
  private static final Set<String> RETRY_KEYS =
      Set.of("type", "delays_seconds", "base_seconds", "cap_seconds", "jitter");

  private final JsonMapper mapper = JsonMapper.shared();

  /** The keys that a job's policy may have. */
  public static Set<String> keysOfJob() {
    return KEYS_OF_JOB;
  }

  /** Writes a complete policy. */
  public String write(Policy policy) {
    return write(
        new PolicyOverrides(
            Optional.of(policy.maxAttempts()),
            Optional.of(policy.retry()),
            Optional.of(policy.timeout()),
            Optional.of(policy.leaseLength()),
            Optional.of(policy.onLeaseLost()),
            Optional.of(policy.onStop()),
            Optional.of(policy.onFailure()),
            policy.tokenLimit(),
            policy.targetCount(),
            policy.trace(),
            Optional.empty())); // its readers have no use for that
  }

  /** Writes a policy as it is stored. */
  public String write(PolicyOverrides policy) {
    ObjectNode json = said(policy);
    policy.enqueuedAs().ifPresent(executor -> json.put("enqueued_as", executor));
    return json.toString();
  }

  /** Writes a policy as a caller sends it: without what only the server sets. */
  public String writeSaid(PolicyOverrides policy) {
    return said(policy).toString();
  }

  private ObjectNode said(PolicyOverrides policy) {
    ObjectNode json = mapper.createObjectNode();
    policy.maxAttempts().ifPresent(attempts -> json.put("max_attempts", attempts));
    policy.retry().ifPresent(retry -> json.set("retry", retryJson(retry)));
    policy
        .timeout()
        .ifPresent(timeout ->
            timeout
                .length()
                .ifPresentOrElse(
                    length -> json.put("timeout_seconds", seconds(length)),
                    () -> json.putNull("timeout_seconds")));
    policy.leaseLength().ifPresent(length -> json.put("lease_seconds", seconds(length)));
    policy.onLeaseLost().ifPresent(choice -> json.put("on_lease_lost", lower(choice)));
    policy.onStop().ifPresent(choice -> json.put("on_stop", lower(choice)));
    policy.onFailure().ifPresent(choice -> json.put("on_failure", lower(choice)));
    policy.tokenLimit().ifPresent(limit -> json.put("token_limit", limit));
    policy.targetCount().ifPresent(count -> json.put("target_count", count));
    policy
        .trace()
        .ifPresent(trace -> {
          json.put("traceparent", trace.parent());
          trace.state().ifPresent(state -> json.put("tracestate", state));
        });
    return json;
  }

  /**
   * A job's policy: its own settings, over its queue's, over the defaults; both as they are stored.
   */
  public Policy resolve(@Nullable String queueDefaults, @Nullable String job) {
    return Policy.DEFAULTS.with(stored(queueDefaults)).with(stored(job));
  }

  /**
   * Reads a stored policy; returns {@link PolicyOverrides#NONE} for one that cannot be read. The
   * API refuses such a policy, so it was stored by hand in SQL, or by a newer version. An exception
   * here would leave a claimed job, and every other job of its batch, leased without a worker that
   * runs it; or a schedule that can be neither changed nor deleted.
   */
  public PolicyOverrides stored(@Nullable String json) {
    if (json == null) {
      return PolicyOverrides.NONE;
    }
    try {
      return read(object("policy", parse(json))); // a newer version may have more keys
    } catch (HoldfastException e) {
      log.error("A stored policy cannot be read, the defaults apply instead: {}", e.getMessage());
      return PolicyOverrides.NONE;
    }
  }

  /**
   * Reads a policy. Refuses unknown keys and wrong types, naming the field: a typo must not become
   * a default.
   */
  public PolicyOverrides read(String text) {
    JsonNode json = object("policy", parse(text));
    refuseUnknown("", json, KEYS);
    return read(json);
  }

  /** Reads the policy of a job, which can also name the trace that the job belongs to. */
  public PolicyOverrides readOfJob(String text) {
    JsonNode json = object("policy", parse(text));
    refuseUnknown("", json, KEYS_OF_JOB);
    return read(json);
  }

  private static PolicyOverrides read(JsonNode json) {
    return new PolicyOverrides(
        optional(json, "max_attempts").map(node -> integer("max_attempts", node)),
        optional(json, "retry").map(PolicyJson::readRetry),
        timeout(json),
        optional(json, "lease_seconds").map(node -> duration("lease_seconds", node)),
        optional(json, "on_lease_lost")
            .map(node -> choice(OnLeaseLost.class, "on_lease_lost", node)),
        optional(json, "on_stop").map(node -> choice(OnStop.class, "on_stop", node)),
        optional(json, "on_failure").map(node -> choice(OnFailure.class, "on_failure", node)),
        optional(json, "token_limit").map(node -> wholeNumber("token_limit", node)),
        optional(json, "target_count").map(node -> wholeNumber("target_count", node)),
        optional(json, "traceparent")
            .map(node ->
                new TraceContext(
                    text("traceparent", node),
                    optional(json, "tracestate").map(state -> text("tracestate", state)))),
        optional(json, "enqueued_as").map(node -> text("enqueued_as", node)));
  }

  private JsonNode parse(String text) {
    try {
      return mapper.readTree(text);
    } catch (JacksonException e) {
      throw HoldfastException.invalid("policy", text, "a JSON object");
    }
  }

  private ObjectNode retryJson(RetryPolicy retry) {
    ObjectNode json = mapper.createObjectNode();
    switch (retry) {
      case RetryPolicy.None() -> json.put("type", "none");
      case RetryPolicy.Delays(List<Duration> delays) -> {
        json.put("type", "schedule");
        var list = json.putArray("delays_seconds");
        delays.forEach(delay -> list.add(seconds(delay)));
      }
      case RetryPolicy.Exponential(Duration base, Duration cap, double jitter) ->
          json.put("type", "exponential")
              .put("base_seconds", seconds(base))
              .put("cap_seconds", seconds(cap))
              .put("jitter", jitter);
    }
    return json;
  }

  private static RetryPolicy readRetry(JsonNode node) {
    JsonNode json = object("retry", node);
    refuseUnknown("retry.", json, RETRY_KEYS);
    String type = json.path("type").asString("");
    return switch (type) {
      case "none" -> new RetryPolicy.None();
      case "schedule" ->
          optional(json, "delays_seconds")
              .map(list -> new RetryPolicy.Delays(delays(list)))
              .orElse(RetryPolicy.Delays.DEFAULTS);
      case "exponential" -> {
        RetryPolicy.Exponential defaults = RetryPolicy.Exponential.DEFAULTS;
        yield new RetryPolicy.Exponential(
            optional(json, "base_seconds")
                .map(base -> duration("retry.base_seconds", base))
                .orElse(defaults.base()),
            optional(json, "cap_seconds")
                .map(cap -> duration("retry.cap_seconds", cap))
                .orElse(defaults.cap()),
            optional(json, "jitter")
                .map(jitter -> number("retry.jitter", jitter))
                .orElse(defaults.jitter()));
      }
      default -> throw HoldfastException.invalid("retry.type", type, "none, schedule, exponential");
    };
  }

  private static List<Duration> delays(JsonNode list) {
    if (!list.isArray()) {
      throw HoldfastException.invalid("retry.delays_seconds", list, "a list of seconds");
    }
    List<Duration> delays = new ArrayList<>();
    list.forEach(delay -> delays.add(duration("retry.delays_seconds", delay)));
    return delays;
  }

  private static Optional<TimeLimit> timeout(JsonNode json) {
    if (!json.has("timeout_seconds")) {
      return Optional.empty();
    }
    return Optional.of(
        optional(json, "timeout_seconds").map(PolicyJson::timeLimit).orElse(TimeLimit.NONE));
  }

  private static TimeLimit timeLimit(JsonNode seconds) {
    Duration length = duration("timeout_seconds", seconds);
    if (!TimeLimit.isAllowed(length)) {
      throw HoldfastException.invalid(
          "timeout_seconds",
          seconds,
          "0.001 to %d, or null for none".formatted(TimeLimit.LONGEST.toSeconds()));
    }
    return TimeLimit.of(length);
  }

  private static Optional<JsonNode> optional(JsonNode json, String field) {
    JsonNode node = json.path(field);
    return node.isMissingNode() || node.isNull() ? Optional.empty() : Optional.of(node);
  }

  private static JsonNode object(String field, JsonNode node) {
    if (!node.isObject()) {
      throw HoldfastException.invalid(field, node, "a JSON object");
    }
    return node;
  }

  private static void refuseUnknown(String prefix, JsonNode json, Set<String> known) {
    json.propertyNames().stream()
        .filter(name -> !known.contains(name))
        .findFirst()
        .ifPresent(name -> {
          throw HoldfastException.invalid(prefix + name, json.get(name), "known keys: " + known);
        });
  }

  private static <E extends Enum<E>> E choice(Class<E> type, String field, JsonNode node) {
    for (E constant : type.getEnumConstants()) {
      if (lower(constant).equals(node.asString(""))) {
        return constant;
      }
    }
    String allowed = List.of(type.getEnumConstants()).toString().toLowerCase(Locale.ROOT);
    throw HoldfastException.invalid(field, node, allowed);
  }

  private static String lower(Enum<?> constant) {
    return constant.name().toLowerCase(Locale.ROOT);
  }

  private static int integer(String field, JsonNode node) {
    if (!node.isIntegralNumber() || !node.canConvertToInt()) {
      throw HoldfastException.invalid(field, node, "a whole number");
    }
    return node.intValue();
  }

  private static long wholeNumber(String field, JsonNode node) {
    if (!node.isIntegralNumber() || !node.canConvertToLong()) {
      throw HoldfastException.invalid(field, node, "a whole number");
    }
    return node.longValue();
  }

  private static String text(String field, JsonNode node) {
    if (!node.isString()) {
      throw HoldfastException.invalid(field, node, "text");
    }
    return node.stringValue();
  }

  private static double number(String field, JsonNode node) {
    if (!node.isNumber()) {
      throw HoldfastException.invalid(field, node, "a number");
    }
    return node.doubleValue();
  }

  private static double seconds(Duration length) {
    return length.toMillis() / 1000.0;
  }

  private static Duration duration(String field, JsonNode node) {
    return Duration.ofMillis(Math.round(number(field, node) * 1000));
  }
}
