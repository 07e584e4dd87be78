package dev.holdfast.agent;

import dev.holdfast.api.HoldfastClient;
import dev.holdfast.error.HoldfastException;
import dev.holdfast.executor.JobExecutors;
import dev.holdfast.worker.Worker;
import dev.holdfast.worker.WorkerDependencies.Background;
import dev.holdfast.worker.WorkerDependencies.Looping;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.List;
import java.util.UUID;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Turns this machine into a worker for a server. Thread-safe; closing drains.
 *
 * <p>It is the same {@link Worker} as everywhere, over HTTP. What is its own: a directory that one
 * process has at a time, a {@link Journal} in it, and with both the certainty that what an {@link
 * EarlierLife} had begun is over.
 */
public final class Agent implements AutoCloseable {

  private static final Logger log = LoggerFactory.getLogger(Agent.class);

  private final Deque<AutoCloseable> open = new ArrayDeque<>();

  private Agent() {}

  /** Starts it; a server that is away is waited for. */
  public static Agent start(HoldfastClient client, AgentConfig config) {
    Agent agent = new Agent();
    try {
      agent.begin(client, config);
      return agent;
    } catch (RuntimeException e) {
      agent.close();
      throw e;
    } catch (IOException e) {
      agent.close();
      throw new UncheckedIOException("cannot use " + config.data(), e);
    }
  }

  private void begin(HoldfastClient client, AgentConfig config) throws IOException {
    OwnDirectory directory = OwnDirectory.take(config.data());
    open.push(directory);
    Journal journal = new Journal(directory.path().resolve("leases"), UUID::toString);
    List<Journal.Entry> left = journal.left();
    // What an earlier life left running is ended here, and what cannot be by EarlierLife, before
    // anybody is told that it was.
    JobExecutors executors = JobExecutors.open(config.executors(), config.limits());
    open.push(executors);
    RemoteCatalog catalog = new RemoteCatalog(client, config.executors());
    Vitals vitals = new Vitals(config);
    List<Background> background = new ArrayList<>();
    background.add(new Looping("holdfast-kinds", catalog, () -> tryFirst(catalog), () -> {}));
    background.add(
        new Looping(
            "holdfast-vitals", new Heartbeat(client, config, catalog::served, vitals), () -> {}));
    background.add(
        new Looping(
            "holdfast-earlier-life",
            new EarlierLife(left, journal, executors, EarlierLife.telling(client.leases())),
            () -> {}));
    open.push(
        executors
            .installOn(
                client
                    .worker(leases -> new JournaledLeases(leases, journal), background)
                    .configure(config::worker)
                    .listen(vitals),
                catalog)
            .start());
  }

  // So that the first claim knows them. It is tried again where that fails.
  private static void tryFirst(RemoteCatalog catalog) {
    try {
      Duration unused = catalog.runOnce();
    } catch (HoldfastException e) {
      log.warn("The server does not answer yet: {}", e.getMessage());
    }
  }

  @Override
  public void close() {
    while (!open.isEmpty()) {
      try {
        open.pop().close();
      } catch (Exception e) {
        log.warn("Something did not end well", e);
      }
    }
  }
}
