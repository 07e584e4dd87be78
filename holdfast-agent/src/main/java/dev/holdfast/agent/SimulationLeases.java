package dev.holdfast.agent;

import dev.holdfast.api.Fields;
import dev.holdfast.api.Json;
import dev.holdfast.error.ErrorCode;
import dev.holdfast.error.HoldfastException;
import dev.holdfast.job.Attempt;
import dev.holdfast.job.Failure;
import dev.holdfast.job.JobState;
import dev.holdfast.job.Needs;
import dev.holdfast.job.Outcome;
import dev.holdfast.job.Payload;
import dev.holdfast.job.Policy;
import dev.holdfast.job.Progress;
import dev.holdfast.job.TimeLimit;
import dev.holdfast.lease.ClaimRequest;
import dev.holdfast.lease.Claimed;
import dev.holdfast.lease.Extension;
import dev.holdfast.lease.Extension.Status;
import dev.holdfast.lease.Finish;
import dev.holdfast.lease.FinishReply;
import dev.holdfast.lease.Lease;
import dev.holdfast.lease.LeaseKey;
import dev.holdfast.lease.LeaseSource;
import dev.holdfast.lease.Report;
import dev.holdfast.lease.ReportReply;
import dev.holdfast.lease.TransactionWork;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.UUID;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.UnaryOperator;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import tools.jackson.databind.node.ObjectNode;

/**
 * Leases from a server that knows none: a job is the worker's as long as the worker says how it is
 * getting on. Saying so renews it, and a server that has given it to somebody else, or wants it
 * stopped, says that then. Log lines go to the shared storage. Thread-safe.
 */
final class SimulationLeases implements LeaseSource {

  private static final Logger log = LoggerFactory.getLogger(SimulationLeases.class);

  private static final Pattern EXIT = Pattern.compile("EXIT_(-?\\d+)");
  private static final String STOP_REQUESTED = "stop_requested";
  private static final Set<String> OURS = Set.of("dispatched", "running", STOP_REQUESTED);

  /** A container that was started for a job. */
  record Container(String id, String name) {}

  /**
   * The newest lease of a job. The server knows no fences: an operator can put a job back that
   * still runs here, and give it to this same worker again. Only here can the two be told apart.
   *
   * @param isLost a beat was answered so, which is final: should the server have given the job to
   *     this worker again, nothing that is said under this lease is about that
   */
  private record Held(
      SimulationJob job, long fence, Optional<Container> container, boolean isLost) {

    boolean isFor(LeaseKey key) {
      return fence == key.fence();
    }

    Held startedIn(Container started) {
      return new Held(job, fence, Optional.of(started), isLost);
    }

    Held lost() {
      return new Held(job, fence, container, true);
    }
  }

  private final SimulationServer server;
  private final SharedStorage storage;
  private final Policy policy;
  private final Map<UUID, Held> jobs = new ConcurrentHashMap<>();

  /**
   * From a server.
   *
   * @param lease how long a job is ours after the server has heard of it: less than it takes the
   *     server to give up on us
   */
  SimulationLeases(SimulationServer server, SharedStorage storage, Duration lease) {
    this.server = server;
    this.storage = storage;
    Policy defaults = Policy.DEFAULTS;
    this.policy =
        new Policy(
            1,
            defaults.retry(),
            TimeLimit.NONE,
            lease,
            Policy.OnLeaseLost.FAIL,
            Policy.OnStop.CANCEL,
            defaults.onFailure(),
            Optional.empty(),
            Optional.empty(),
            Optional.empty(),
            Optional.empty());
  }

  Optional<SimulationJob> job(UUID key) {
    return Optional.ofNullable(jobs.get(key)).map(Held::job);
  }

  /** What the server calls a job of ours. */
  String serverId(UUID key) {
    return job(key).map(SimulationJob::id).orElse(key.toString());
  }

  /** From now on the job is running. */
  void started(LeaseKey key, Container container, String worker) {
    change(key, held -> held.startedIn(container));
    try {
      Status unused = extend(key, worker);
    } catch (RuntimeException e) {
      log.debug("The server hears of job {} with the next beat", key.jobId(), e);
    }
  }

  @Override
  public Claimed claim(ClaimRequest request) {
    List<Lease> leases = new ArrayList<>();
    try {
      for (int i = 0; i < request.limit(); i++) {
        Optional<Fields> payload = server.nextJob(request.worker());
        if (payload.isEmpty()) {
          break;
        }
        take(payload.get(), request.worker()).ifPresent(leases::add);
      }
    } catch (HoldfastException e) {
      if (leases.isEmpty()) {
        throw e;
      }
      log.debug("There are {} jobs; the next claim asks for more", leases.size(), e);
    }
    return new Claimed(leases, Optional.empty());
  }

  private Optional<Lease> take(Fields payload, String worker) {
    String id = payload.text("job_id");
    try {
      if (!SharedStorage.isId(id)) {
        throw HoldfastException.invalid("job_id", id, "letters, digits, _ . -");
      }
      SimulationJob job = SimulationJob.read(payload);
      Lease lease = lease(job, worker);
      jobs.put(job.key(), new Held(job, lease.key().fence(), Optional.empty(), false));
      return Optional.of(lease);
    } catch (HoldfastException e) { // what cannot be read can be failed
      log.warn("Job {} cannot be understood", id, e);
      SimulationServer.Answer unused =
          server.report(status(id, "failed", worker).put("error", e.getMessage()));
      return Optional.empty();
    }
  }

  private Lease lease(SimulationJob job, String worker) {
    return new Lease(
        new LeaseKey("default", job.key(), System.nanoTime() & Long.MAX_VALUE),
        worker,
        "container",
        "agents",
        job.container(),
        new Attempt(1, 0, 0),
        policy,
        Needs.NOTHING,
        Progress.NONE,
        Instant.EPOCH,
        policy.leaseLength(),
        Instant.EPOCH, // no clock but our own knows
        Optional.empty());
  }

  @Override
  public List<Extension> extend(List<Lease> leases) {
    return leases.stream()
        .map(lease -> {
          try {
            return new Extension(lease.key(), extend(lease.key(), lease.worker()));
          } catch (HoldfastException e) {
            log.debug("Job {} was not renewed", lease.key().jobId(), e);
            return new Extension(lease.key(), Status.BUSY); // its end is what it was
          }
        })
        .toList();
  }

  // First look, then speak: of a job that is to be stopped nobody may say that it is running.
  private Status extend(LeaseKey key, String worker) {
    Optional<Held> held = inForce(key);
    if (held.isEmpty()) {
      return Status.LOST;
    }
    String id = held.get().job.id();
    Optional<String> status = statusOfOurs(id, worker);
    if (status.isEmpty()) {
      change(key, Held::lost);
      return Status.LOST;
    }
    Optional<Container> started = held.get().container;
    boolean stop = status.get().equals(STOP_REQUESTED);
    String said = stop ? STOP_REQUESTED : started.isPresent() ? "running" : "dispatched";
    ObjectNode json = status(id, said, worker);
    started.ifPresent(
        container -> json.put("container_id", container.id).put("container_name", container.name));
    SimulationServer.Answer answer = server.report(json);
    if (answer.isOk()) {
      return stop ? Status.STOP_REQUESTED : Status.EXTENDED;
    }
    return Status.BUSY; // it changed between the two; the next beat sees how
  }

  /** Empty when the job is somebody else's, or over. */
  private Optional<String> statusOfOurs(String jobId, String worker) {
    return server
        .status(jobId)
        .filter(known ->
            known.optionalText("worker_id").filter(owner -> !owner.equals(worker)).isEmpty())
        .flatMap(known -> known.optionalText("status"))
        .filter(OURS::contains);
  }

  private static ObjectNode status(String jobId, String status, String worker) {
    return Json.object().put("job_id", jobId).put("status", status).put("worker_id", worker);
  }

  @Override
  public ReportReply report(Lease lease, Report report) {
    Optional<Held> held = inForce(lease.key());
    if (held.isEmpty()) {
      return new ReportReply.Lost();
    }
    if (!report.logLines().isEmpty()) {
      storage.log(held.get().job.id(), report.logLines());
    }
    return new ReportReply.Stored(0, 0, Optional.empty());
  }

  @Override
  public List<FinishReply> finish(List<Finish> finished) {
    List<FinishReply> replies = finished.stream().map(this::finish).toList();
    // Not before all are told: when the server is away, all are told again.
    finished.forEach(end -> forget(end.lease().key()));
    return replies;
  }

  private FinishReply finish(Finish end) {
    LeaseKey key = end.lease().key();
    Optional<Held> held = inForce(key);
    if (held.isEmpty()) {
      return new FinishReply.Lost(); // the server could take it for the end of a newer one
    }
    boolean wasStarted = held.get().container.isPresent();
    return tell(held.get().job.id(), end.outcome(), end.lease().worker(), wasStarted);
  }

  /** What is held under a lease, unless that is over. */
  private Optional<Held> inForce(LeaseKey key) {
    return Optional.ofNullable(jobs.get(key.jobId()))
        .filter(held -> held.isFor(key) && !held.isLost);
  }

  private void change(LeaseKey key, UnaryOperator<Held> change) {
    Held unused =
        jobs.computeIfPresent(
            key.jobId(), (id, held) -> held.isFor(key) ? change.apply(held) : held);
  }

  private void forget(LeaseKey key) {
    Held unused = jobs.computeIfPresent(key.jobId(), (id, held) -> held.isFor(key) ? null : held);
  }

  /**
   * Says how a job ended.
   *
   * @param wasStarted a container was
   */
  FinishReply tell(String jobId, Outcome outcome, String worker, boolean wasStarted) {
    ObjectNode json =
        switch (outcome) {
          case Outcome.Succeeded(Payload result) ->
              status(jobId, "finished", worker).put("exit_code", 0);
          case Outcome.Failed(Failure failure) -> failed(jobId, failure, worker);
          case Outcome.Stopped() -> status(jobId, "stopped", worker);
          case Outcome.Released released -> givenBack(jobId, worker, wasStarted);
          case Outcome.Snoozed snoozed -> givenBack(jobId, worker, wasStarted);
          case Outcome.LeaseExpired expired -> givenBack(jobId, worker, wasStarted);
          case Outcome.NeverStarted never -> givenBack(jobId, worker, wasStarted);
        };
    try {
      SimulationServer.Answer answer = server.report(json);
      if (answer.isOk()) {
        return new FinishReply.Recorded(state(outcome));
      }
      return answer.status() == 409 && tellStopped(json, jobId, worker)
          ? new FinishReply.Recorded(JobState.CANCELLED)
          : new FinishReply.Lost();
    } catch (HoldfastException e) {
      if (e.code() != ErrorCode.INVALID_ARGUMENT) {
        throw e; // it is told again
      }
      log.warn("The server does not understand how job {} ended", jobId, e);
      return new FinishReply.Lost();
    }
  }

  // One that was asked to stop can no longer finish or be given back, and we may have come to its
  // end before we heard of that. It is over, and so it has stopped.
  private boolean tellStopped(ObjectNode json, String jobId, String worker) {
    boolean isToStop = statusOfOurs(jobId, worker).equals(Optional.of(STOP_REQUESTED));
    return isToStop && server.report(json.put("status", "stopped")).isOk();
  }

  private static ObjectNode failed(String jobId, Failure failure, String worker) {
    ObjectNode json = status(jobId, "failed", worker).put("error", failure.message());
    Matcher exit = EXIT.matcher(failure.code());
    if (exit.matches()) {
      json.put("exit_code", Integer.parseInt(exit.group(1)));
    }
    json.putObject("details").put("error_code", failure.code());
    return json;
  }

  // What has run cannot be given to somebody else, as the document has it.
  private static ObjectNode givenBack(String jobId, String worker, boolean wasStarted) {
    return wasStarted
        ? status(jobId, "failed", worker).put("error", "The agent had to end before the job did")
        : status(jobId, "queued", worker);
  }

  private static JobState state(Outcome outcome) {
    return switch (outcome) {
      case Outcome.Succeeded succeeded -> JobState.SUCCEEDED;
      case Outcome.Stopped stopped -> JobState.CANCELLED;
      case Outcome.Failed failed -> JobState.FAILED;
      case Outcome.Released released -> JobState.QUEUED;
      case Outcome.Snoozed snoozed -> JobState.QUEUED;
      case Outcome.LeaseExpired expired -> JobState.FAILED;
      case Outcome.NeverStarted never -> JobState.QUEUED;
    };
  }

  @Override
  public FinishReply finishInTransaction(Lease lease, TransactionWork work) {
    throw new UnsupportedOperationException("containers share no transaction with their job");
  }
}
