package dev.holdfast.agent;

import dev.holdfast.api.Json;
import dev.holdfast.job.Outcome;
import dev.holdfast.lease.Lease;
import dev.holdfast.worker.WorkerListener;
import java.io.IOException;
import java.lang.management.ManagementFactory;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Optional;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import tools.jackson.databind.node.ObjectNode;

/** How an agent is: load, memory, version, active jobs. Thread-safe. */
final class Vitals implements WorkerListener {

  private static final Path MEMORY = Path.of("/proc/meminfo");
  private static final Pattern AVAILABLE = Pattern.compile("MemAvailable:\\s+(\\d+) kB");
  private static final Pattern TOTAL = Pattern.compile("MemTotal:\\s+(\\d+) kB");
  private static final String VERSION =
      Optional.ofNullable(Vitals.class.getPackage().getImplementationVersion())
          .orElse("unpackaged");

  private final AgentConfig config;
  private final AtomicInteger active = new AtomicInteger();

  Vitals(AgentConfig config) {
    this.config = config;
  }

  @Override
  public void claimed(int jobs, Duration took) {
    active.addAndGet(jobs);
  }

  @Override
  public void ended(Lease lease, Outcome outcome, Duration ran) {
    active.decrementAndGet();
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
