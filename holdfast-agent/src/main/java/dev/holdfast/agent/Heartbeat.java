package dev.holdfast.agent;

import dev.holdfast.api.HoldfastClient;
import dev.holdfast.api.Json;
import dev.holdfast.loop.Loop;
import java.time.Duration;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.function.Supplier;
import tools.jackson.databind.node.ObjectNode;

/** Tells the server that an agent is there, what it runs, and how it is. */
record Heartbeat(
    HoldfastClient client, AgentConfig config, Supplier<Set<String>> kinds, Vitals vitals)
    implements Loop.Step {

  private static final Duration PERIOD = Duration.ofSeconds(5);

  @Override
  public Duration runOnce() {
    ObjectNode body = Json.object().put("worker", config.name()).put("host", config.name());
    ObjectNode labels = body.putObject("labels");
    config.labels().forEach(labels::put);
    config.queues().forEach(body.putArray("queues")::add);
    kinds.get().forEach(body.putArray("kinds")::add);
    body.set("info", vitals.info());
    ObjectNode unused = client.ask("POST", "/workers/heartbeat", Map.of(), Optional.of(body));
    return PERIOD;
  }
}
