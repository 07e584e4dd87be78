package dev.holdfast.agent;

import dev.holdfast.api.HoldfastClient;
import dev.holdfast.api.Json;
import dev.holdfast.job.Outcome;
import dev.holdfast.lease.Lease;
import dev.holdfast.loop.Loop;
import dev.holdfast.worker.WorkerListener;
import java.io.IOException;
import java.lang.management.ManagementFactory;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Supplier;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import tools.jackson.databind.node.ObjectNode;

/** Tells the server that an agent is there, and how it is: load, memory, version, active jobs. */
final class Vitals implements Loop.Step, WorkerListener {

  private static final Duration PERIOD = Duration.ofSeconds(5);
  private static final Path MEMORY = Path.of("/proc/meminfo");
  private static final Pattern AVAILABLE = Pattern.compile("MemAvailable:\\s+(\\d+) kB");
  private static final Pattern TOTAL = Pattern.compile("MemTotal:\\s+(\\d+) kB");
  private static final String VERSION =
      Optional.ofNullable(Vitals.class.getPackage().getImplementationVersion())
          .orElse("unpackaged");

  private final HoldfastClient client;
  private final AgentConfig config;
  private final Supplier<Set<String>> kinds;
  private final AtomicInteger active = new AtomicInteger();

  Vitals(HoldfastClient client, AgentConfig config, Supplier<Set<String>> kinds) {
    this.client = client;
    this.config = config;
    this.kinds = kinds;
  }

  @Override
  public void claimed(int jobs, Duration took) {
    active.addAndGet(jobs);
  }

  @Override
  public void ended(Lease lease, Outcome outcome, Duration ran) {
    active.decrementAndGet();
  }

  @Override
  public Duration runOnce() {
    ObjectNode body = Json.object().put("worker", config.name()).put("host", config.name());
    ObjectNode labels = body.putObject("labels");
    config.labels().forEach(labels::put);
    config.queues().forEach(body.putArray("queues")::add);
    kinds.get().forEach(body.putArray("kinds")::add);
    body.set("info", info());
    ObjectNode unused = client.ask("POST", "/workers/heartbeat", Map.of(), Optional.of(body));
    return PERIOD;
  }

  ObjectNode info() {
    ObjectNode info = Json.object();
    double load = ManagementFactory.getOperatingSystemMXBean().getSystemLoadAverage();
    if (load >= 0) {
      info.put("load", Math.round(load * 100) / 100.0);
    }
    info.put("cpus", Runtime.getRuntime().availableProcessors());
    try {
      String memory = Files.readString(MEMORY);
      putMegabytes(info, "memory_available_mb", AVAILABLE.matcher(memory));
      putMegabytes(info, "memory_total_mb", TOTAL.matcher(memory));
    } catch (IOException e) {
      // Not on this system.
    }
    info.put("version", VERSION);
    info.put("active_jobs", active.get());
    info.put("concurrency", config.concurrency());
    config.executors().stream().sorted().forEach(info.putArray("executors")::add);
    return info;
  }

  private static void putMegabytes(ObjectNode info, String field, Matcher found) {
    if (found.find()) {
      info.put(field, Long.parseLong(found.group(1)) / 1024);
    }
  }
}
