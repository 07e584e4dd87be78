package dev.holdfast.agent;

import dev.holdfast.api.Fields;
import dev.holdfast.api.HoldfastClient;
import dev.holdfast.executor.KindCatalog;
import dev.holdfast.executor.NodeAddress;
import dev.holdfast.executor.Runbook;
import dev.holdfast.loop.Loop;
import dev.holdfast.worker.JobContext;
import java.time.Duration;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/**
 * What is registered at the server, in the agent's own tenant. What kinds there are is known a few
 * seconds later; how a node is reached is asked for each job, under its lease. Thread-safe.
 */
final class RemoteCatalog implements KindCatalog, Loop.Step {

  private static final Duration PERIOD = Duration.ofSeconds(2);
  private static final int PAGE = 1_000;

  private final HoldfastClient client;
  private final Set<String> executors;
  private volatile Map<String, String> known = Map.of();

  RemoteCatalog(HoldfastClient client, Set<String> executors) {
    this.client = client;
    this.executors = executors;
  }

  @Override
  public Duration runOnce() {
    Map<String, String> found = new HashMap<>();
    Optional<String> after = Optional.of("");
    while (after.isPresent()) {
      Map<String, String> query = new LinkedHashMap<>(Map.of("limit", String.valueOf(PAGE)));
      after.filter(name -> !name.isEmpty()).ifPresent(name -> query.put("after", name));
      Fields page = Fields.of("answer", client.ask("GET", "/kinds", query, Optional.empty()));
      for (Fields kind : page.objects("kinds")) {
        kind.optionalText("executor")
            .filter(executors::contains)
            .ifPresent(executor -> found.put(kind.text("name"), executor));
      }
      after = page.optionalText("after");
    }
    known = Map.copyOf(found);
    return PERIOD;
  }

  @Override
  public Set<String> kinds(Set<String> ofThese) {
    return known.keySet(); // no others are known
  }

  @Override
  public Map<String, String> executors(String tenant) {
    return known;
  }

  @Override
  public Runbook runbook(JobContext job) {
    Fields said =
        Fields.of(
            "answer",
            client.ask(
                "GET",
                "/jobs/" + job.jobId() + "/runbook",
                Map.of("fence", String.valueOf(job.fence())),
                Optional.empty()));
    return new Runbook(
        said.optionalText("playbook"),
        said.optionalObject("node").map(RemoteCatalog::node),
        said.textMap("ids"),
        said.optionalText("executor"));
  }

  private static NodeAddress node(Fields said) {
    return new NodeAddress(
        said.text("id"),
        said.text("host"),
        said.optionalInt("port"),
        said.optionalText("user"),
        said.optionalText("key_file"),
        said.optionalText("connection"));
  }

  /** All that the agent can run. */
  Set<String> served() {
    return Stream.concat(executors.stream(), known.keySet().stream())
        .collect(Collectors.toUnmodifiableSet());
  }
}
