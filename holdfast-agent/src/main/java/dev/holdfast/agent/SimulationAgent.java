package dev.holdfast.agent;

import dev.holdfast.api.Fields;
import dev.holdfast.api.OutcomeJson;
import dev.holdfast.codec.JacksonCodec;
import dev.holdfast.executor.ContainerConfig;
import dev.holdfast.executor.ExecutorConfig;
import dev.holdfast.executor.JobExecutors;
import dev.holdfast.job.Failure;
import dev.holdfast.job.Outcome;
import dev.holdfast.lease.FinishReply;
import dev.holdfast.lease.LeaseKey;
import dev.holdfast.wake.Bell;
import dev.holdfast.worker.Idle;
import dev.holdfast.worker.Interceptor;
import dev.holdfast.worker.JobContext;
import dev.holdfast.worker.WorkerBuilder;
import dev.holdfast.worker.WorkerDependencies;
import dev.holdfast.worker.WorkerDependencies.Background;
import dev.holdfast.worker.WorkerDependencies.Looping;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.function.BooleanSupplier;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * A worker as the document on jobs and workers describes it, for any server that coordinates such
 * workers. The same {@link dev.holdfast.worker.Worker}, executor and watchdog as an {@link
 * Agent}'s, over other leases. Thread-safe; closing drains.
 */
public final class SimulationAgent implements AutoCloseable {

  private static final Logger log = LoggerFactory.getLogger(SimulationAgent.class);

  // Well below what it takes a server to give up on a worker: 180 s, unless it was set otherwise.
  private static final Duration LEASE = Duration.ofSeconds(60);
  private static final Duration BEAT = Duration.ofSeconds(5);

  // For how long jobs of an earlier life may keep new ones waiting. A server that never takes the
  // end of one of them must not keep this worker idle for good.
  private static final Duration LONGEST_GATE = Duration.ofMinutes(3);

  private final Deque<AutoCloseable> open = new ArrayDeque<>();

  private SimulationAgent() {}

  /**
   * Starts it.
   *
   * @param shared the shared storage, mounted where the server has it
   */
  public static SimulationAgent start(SimulationServer server, AgentConfig config, Path shared) {
    SimulationAgent agent = new SimulationAgent();
    try {
      agent.begin(
          server,
          config.withExecutors(Set.of("container"), config.limits()),
          SharedStorage.in(shared));
      return agent;
    } catch (RuntimeException e) {
      agent.close();
      throw e;
    } catch (IOException e) {
      agent.close();
      throw new UncheckedIOException("cannot use " + config.data(), e);
    }
  }

  private void begin(SimulationServer server, AgentConfig config, SharedStorage storage)
      throws IOException {
    OwnDirectory directory = OwnDirectory.take(config.data());
    open.push(directory);
    SimulationLeases leases = new SimulationLeases(server, storage, LEASE);
    Journal journal = new Journal(directory.path().resolve("leases"), leases::serverId);
    List<Journal.Entry> left = journal.left();
    JobExecutors executors =
        JobExecutors.open(
            config.executors(),
            withShared(config.limits(), storage),
            (job, id, name) ->
                leases.started(
                    new LeaseKey("default", job.jobId(), job.fence()),
                    new SimulationLeases.Container(id, name),
                    config.name()));
    open.push(executors);
    Vitals vitals = new Vitals(config);
    EarlierLife earlier =
        new EarlierLife(left, journal, executors, entry -> settle(leases, left, entry));
    Bell bell = new Bell();
    List<Background> background =
        List.of(
            new Looping(
                "holdfast-vitals",
                () -> {
                  server.heartbeat(config.name(), vitals.info());
                  return BEAT;
                },
                () -> {}),
            new Looping(
                "holdfast-earlier-life",
                () -> {
                  Duration pause = earlier.runOnce();
                  bell.ring("default"); // now there may be jobs for us
                  return pause;
                },
                () -> {}));
    BooleanSupplier isGateClosed = gate(earlier);
    WorkerBuilder worker =
        new WorkerBuilder(
            new JacksonCodec(),
            (settings, kinds, listener) ->
                new WorkerDependencies(
                    new JournaledLeases(leases, journal),
                    leases,
                    bell,
                    background,
                    isGateClosed,
                    new Idle()));
    open.push(
        executors
            .installOn(
                worker
                    .configure(defaults -> config.worker(defaults).withHeartbeatInterval(BEAT))
                    .intercept((job, next) -> checked(leases, storage, job, next))
                    .listen(vitals))
            .start());
  }

  // Containers are given the shared storage without anybody having to say so twice.
  private static ExecutorConfig withShared(ExecutorConfig limits, SharedStorage storage) {
    ContainerConfig containers = limits.containers();
    List<String> mounts = new ArrayList<>(containers.mounts());
    mounts.add(storage.root().toString());
    return limits.withContainers(containers.withMounts(mounts));
  }

  private static Outcome checked(
      SimulationLeases leases, SharedStorage storage, JobContext job, Interceptor.Next next)
      throws Exception {
    Optional<String> refusal =
        leases.job(job.jobId()).map(SimulationJob::configPath).flatMap(storage::refusal);
    return refusal.isPresent()
        ? Outcome.failed(Failure.permanent("CONFIG_NOT_READABLE", refusal.get()))
        : next.proceed();
  }

  // This protocol has no fence: whatever is said of a job is about its newest attempt. So nothing
  // may be claimed before the server knows how the attempts of an earlier life ended.
  private static BooleanSupplier gate(EarlierLife earlier) {
    long sinceNanos = System.nanoTime();
    return () -> !earlier.isOver() && System.nanoTime() - sinceNanos < LONGEST_GATE.toNanos();
  }

  // Its container is gone: it was killed when its agent died, or when this one started.
  private static FinishReply settle(
      SimulationLeases leases, List<Journal.Entry> left, Journal.Entry entry) {
    if (!isNewest(left, entry) || leases.job(entry.jobId()).isPresent()) {
      return new FinishReply.Lost(); // the server would take it for the end of a newer attempt
    }
    Outcome outcome =
        entry
            .end()
            .map(end -> OutcomeJson.read(Fields.of("end", end), entry.worker()))
            .orElseGet(() -> new Outcome.LeaseExpired(entry.worker()));
    return leases.tell(entry.serverId(), outcome, entry.worker(), true);
  }

  private static boolean isNewest(List<Journal.Entry> left, Journal.Entry entry) {
    return left.stream()
        .noneMatch(other -> other.jobId().equals(entry.jobId()) && other.fence() > entry.fence());
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
