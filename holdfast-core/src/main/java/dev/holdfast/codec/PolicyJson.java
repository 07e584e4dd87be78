package dev.holdfast.codec;

import dev.holdfast.error.HoldfastException;
import dev.holdfast.job.Policy.OnFailure;
import dev.holdfast.job.Policy.OnLeaseLost;
import dev.holdfast.job.Policy.OnStop;
import dev.holdfast.job.PolicyOverrides;
import dev.holdfast.job.RetryPolicy;
import dev.holdfast.job.TimeLimit;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Optional;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;
import tools.jackson.databind.node.ObjectNode;

/**
 * Policies as JSON, in the words of the API: {@code {"max_attempts": 5, "retry": {"type":
 * "exponential", "base_seconds": 30}, "timeout_seconds": null}}. A key that is absent was not said;
 * a timeout of null was: no limit.
 */
public final class PolicyJson {

  private final JsonMapper mapper = JsonMapper.shared();

  public String write(PolicyOverrides policy) {
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
    return json.toString();
  }

  public PolicyOverrides read(String text) {
    JsonNode json = mapper.readTree(text);
    return new PolicyOverrides(
        optional(json, "max_attempts").map(JsonNode::intValue),
        optional(json, "retry").map(PolicyJson::readRetry),
        timeout(json),
        optional(json, "lease_seconds").map(PolicyJson::duration),
        optional(json, "on_lease_lost")
            .map(node -> choice(OnLeaseLost.class, "on_lease_lost", node)),
        optional(json, "on_stop").map(node -> choice(OnStop.class, "on_stop", node)),
        optional(json, "on_failure").map(node -> choice(OnFailure.class, "on_failure", node)));
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

  private static RetryPolicy readRetry(JsonNode json) {
    String type = json.path("type").asString("");
    return switch (type) {
      case "none" -> new RetryPolicy.None();
      case "schedule" -> {
        List<Duration> delays = new ArrayList<>();
        json.path("delays_seconds").forEach(delay -> delays.add(duration(delay)));
        yield new RetryPolicy.Delays(delays);
      }
      case "exponential" -> {
        RetryPolicy.Exponential defaults = RetryPolicy.Exponential.DEFAULTS;
        yield new RetryPolicy.Exponential(
            optional(json, "base_seconds").map(PolicyJson::duration).orElse(defaults.base()),
            optional(json, "cap_seconds").map(PolicyJson::duration).orElse(defaults.cap()),
            optional(json, "jitter").map(JsonNode::doubleValue).orElse(defaults.jitter()));
      }
      default -> throw HoldfastException.invalid("retry.type", type, "none, schedule, exponential");
    };
  }

  private static Optional<TimeLimit> timeout(JsonNode json) {
    if (!json.has("timeout_seconds")) {
      return Optional.empty();
    }
    return Optional.of(
        optional(json, "timeout_seconds")
            .map(node -> TimeLimit.of(duration(node)))
            .orElse(TimeLimit.NONE));
  }

  private static Optional<JsonNode> optional(JsonNode json, String field) {
    JsonNode node = json.path(field);
    return node.isMissingNode() || node.isNull() ? Optional.empty() : Optional.of(node);
  }

  private static <E extends Enum<E>> E choice(Class<E> type, String field, JsonNode node) {
    for (E constant : type.getEnumConstants()) {
      if (lower(constant).equals(node.asString(""))) {
        return constant;
      }
    }
    String allowed = List.of(type.getEnumConstants()).toString().toLowerCase(Locale.ROOT);
    throw HoldfastException.invalid(field, node.asString(""), allowed);
  }

  private static String lower(Enum<?> constant) {
    return constant.name().toLowerCase(Locale.ROOT);
  }

  private static double seconds(Duration length) {
    return length.toMillis() / 1000.0;
  }

  private static Duration duration(JsonNode node) {
    return Duration.ofMillis(Math.round(node.asDouble() * 1000));
  }
}
