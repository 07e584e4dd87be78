package dev.holdfast.worker;

import dev.holdfast.error.HoldfastException;
import dev.holdfast.job.Limits;
import dev.holdfast.job.NewJob;
import dev.holdfast.job.Placement;
import java.net.InetAddress;
import java.net.UnknownHostException;
import java.time.Duration;
import java.util.Map;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * The settings of a worker.
 *
 * @param name the name under which it holds leases, in tables and logs. Stable for the process.
 *     Defaults to host name and process id.
 * @param host where jobs that ask for a host find this worker. Defaults to the host name.
 * @param labels its labels; a job that asks for labels runs only on workers that have all of them.
 *     Defaults to none.
 * @param queues which queues it serves. Defaults to {@code default}.
 * @param concurrency most jobs it runs at once. More hides the latency of handlers that wait; it
 *     also bounds how many jobs one claim brings. Defaults to 16.
 * @param pollInterval how long a job can stay unnoticed when its notification got lost. Defaults to
 *     2 s.
 * @param heartbeatInterval how often leases are renewed and stop requests seen. A job with a lease
 *     shorter than three intervals is renewed more often. Defaults to 2 s.
 * @param drainTimeout how long closing waits for running jobs before it interrupts and hands them
 *     back. Defaults to what the environment variable SHUTDOWN_GRACE_PERIOD_SECONDS says, or to 300
 *     s.
 */
public record WorkerConfig(
    String name,
    String host,
    Map<String, String> labels,
    Set<String> queues,
    int concurrency,
    Duration pollInterval,
    Duration heartbeatInterval,
    Duration drainTimeout) {

  public static final int MOST_CONCURRENCY = 10_000;

  private static final Duration LONGEST_DRAIN = Duration.ofDays(1);
  private static final String SHUTDOWN_GRACE_PERIOD = "SHUTDOWN_GRACE_PERIOD_SECONDS";

  public WorkerConfig {
    Limits.name("worker.name", name);
    Limits.name("worker.host", host);
    labels = new Placement(java.util.Optional.empty(), false, labels).labels();
    queues.forEach(queue -> Limits.name("worker.queues", queue));
    queues = Set.copyOf(queues);
    if (queues.isEmpty()) {
      throw HoldfastException.badConfig("worker.queues", queues, "at least one queue");
    }
    if (concurrency < 1 || concurrency > MOST_CONCURRENCY) {
      throw HoldfastException.badConfig(
          "worker.concurrency", concurrency, "1 to " + MOST_CONCURRENCY);
    }
    checkRange("worker.poll-interval", pollInterval, Duration.ofMillis(10), Duration.ofHours(1));
    checkRange(
        "worker.heartbeat-interval", heartbeatInterval, Duration.ofMillis(50), Duration.ofHours(1));
    checkRange("worker.drain-timeout", drainTimeout, Duration.ZERO, LONGEST_DRAIN);
  }

  public static WorkerConfig defaults() {
    String host = hostName();
    return new WorkerConfig(
        host + "-" + ProcessHandle.current().pid(),
        host,
        Map.of(),
        Set.of(NewJob.DEFAULT_QUEUE),
        16,
        Duration.ofSeconds(2),
        Duration.ofSeconds(2),
        drainTimeout(System.getenv(SHUTDOWN_GRACE_PERIOD)));
  }

  static Duration drainTimeout(@Nullable String seconds) {
    if (seconds == null || seconds.isBlank()) {
      return Duration.ofMinutes(5);
    }
    long said = -1;
    try {
      said = Long.parseLong(seconds.strip());
    } catch (NumberFormatException e) {
      // refused below, like one that is out of range
    }
    if (said < 0 || said > LONGEST_DRAIN.toSeconds()) {
      throw HoldfastException.badConfig(
          SHUTDOWN_GRACE_PERIOD, seconds, "0 to " + LONGEST_DRAIN.toSeconds() + ", whole seconds");
    }
    return Duration.ofSeconds(said);
  }

  public WorkerConfig withName(String name) {
    return new WorkerConfig(
        name, host, labels, queues, concurrency, pollInterval, heartbeatInterval, drainTimeout);
  }

  public WorkerConfig withHost(String host) {
    return new WorkerConfig(
        name, host, labels, queues, concurrency, pollInterval, heartbeatInterval, drainTimeout);
  }

  public WorkerConfig withLabels(Map<String, String> labels) {
    return new WorkerConfig(
        name, host, labels, queues, concurrency, pollInterval, heartbeatInterval, drainTimeout);
  }

  public WorkerConfig withQueues(String... queues) {
    return new WorkerConfig(
        name,
        host,
        labels,
        Set.of(queues),
        concurrency,
        pollInterval,
        heartbeatInterval,
        drainTimeout);
  }

  public WorkerConfig withConcurrency(int concurrency) {
    return new WorkerConfig(
        name, host, labels, queues, concurrency, pollInterval, heartbeatInterval, drainTimeout);
  }

  public WorkerConfig withPollInterval(Duration pollInterval) {
    return new WorkerConfig(
        name, host, labels, queues, concurrency, pollInterval, heartbeatInterval, drainTimeout);
  }

  public WorkerConfig withHeartbeatInterval(Duration heartbeatInterval) {
    return new WorkerConfig(
        name, host, labels, queues, concurrency, pollInterval, heartbeatInterval, drainTimeout);
  }

  public WorkerConfig withDrainTimeout(Duration drainTimeout) {
    return new WorkerConfig(
        name, host, labels, queues, concurrency, pollInterval, heartbeatInterval, drainTimeout);
  }

  private static void checkRange(String setting, Duration value, Duration least, Duration most) {
    if (value.compareTo(least) < 0 || value.compareTo(most) > 0) {
      throw HoldfastException.badConfig(setting, value, least + " to " + most);
    }
  }

  private static String hostName() {
    try {
      return InetAddress.getLocalHost().getHostName();
    } catch (UnknownHostException e) {
      return "localhost";
    }
  }
}
