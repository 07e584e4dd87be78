package dev.holdfast.server.dialect.pull;

import static dev.holdfast.server.http.Route.Method.GET;
import static dev.holdfast.server.http.Route.Method.POST;

import dev.holdfast.api.Json;
import dev.holdfast.error.ErrorCode;
import dev.holdfast.error.HoldfastException;
import dev.holdfast.fleet.RemoteWorkers;
import dev.holdfast.fleet.WorkerInfo;
import dev.holdfast.job.Job;
import dev.holdfast.job.JobState;
import dev.holdfast.job.Limits;
import dev.holdfast.job.Policy;
import dev.holdfast.lease.ClaimRequest;
import dev.holdfast.lease.Lease;
import dev.holdfast.lease.LeaseKey;
import dev.holdfast.lease.ReportReply;
import dev.holdfast.lease.Submission;
import dev.holdfast.server.api.Reserved;
import dev.holdfast.server.auth.Role;
import dev.holdfast.server.http.Answer;
import dev.holdfast.server.http.Credential;
import dev.holdfast.server.http.Refusal;
import dev.holdfast.server.http.Request;
import dev.holdfast.server.http.Route;
import dev.holdfast.server.poll.LeaseDelivery;
import dev.holdfast.server.tenancy.Setting;
import dev.holdfast.server.tenancy.Settings;
import dev.holdfast.server.tenancy.TenantServices;
import dev.holdfast.server.tenancy.TenantServices.ReservedServices;
import io.javalin.http.HandlerType;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.stream.Stream;
import tools.jackson.databind.node.ObjectNode;

/** Jobs for workers that pull them one by one, and know nothing but these two paths. */
public final class PullRoutes {

  private static final String QUEUE = "pull";
  private static final String WORKER = "X-Worker-Id";
  private static final String PHP = ".php";
  private static final long NO_FENCE = 0; // no lease has it

  private final RemoteWorkers workers;
  private final Credential credential;

  public PullRoutes(RemoteWorkers workers, Credential credential) {
    this.workers = workers;
    this.credential = credential;
  }

  public List<Route> routes() {
    return Stream.of(
            Route.of(GET, "/api/pull_job", Role.WORKER, "Asks for a job", this::pull)
                .queries("lease_sec", "queue"),
            Route.of(
                    POST,
                    "/api/report_results",
                    Role.WORKER,
                    "Says what was found, and how it goes on",
                    this::report)
                .fields(
                    "job_id",
                    "attempt_id",
                    "items",
                    "cursor",
                    "done",
                    "done_reason",
                    "extend_lease_sec",
                    "error",
                    "log",
                    "idempotency_key")
                .urgent())
        .map(route -> route.orBy(credential))
        .flatMap(route -> Stream.of(route, route.at(route.path() + PHP)))
        .toList();
  }

  private Answer pull(Request request) {
    if (request.http().method().equals(HandlerType.HEAD)) {
      throw Refusal.of(405, "METHOD_NOT_ALLOWED", "a job is not given away to be looked at");
    }
    String queue = request.query("queue").orElse(QUEUE);
    Reserved.check("queue", queue);
    String worker = worker(request);
    ClaimRequest asked =
        ClaimRequest.of(worker, Set.of(queue), 1)
            .withPlace(worker, Map.of()) // it is its own host
            .thoroughly();
    Optional<Duration> length = request.number("lease_sec").map(PullRoutes::lease);
    asked = length.map(asked::withLeaseLength).orElse(asked);
    WorkerInfo info =
        new WorkerInfo(
            worker,
            asked.host(),
            asked.labels(),
            Optional.of(request.services().tenant().name().value()),
            asked.queues(),
            Optional.empty());
    boolean unused = workers.seen(info); // it is served, listed or not
    if (workers.isDraining(request.services().tenant().name(), worker)) {
      return pulled(request.services(), List.of(), length.isEmpty());
    }
    return LeaseDelivery.claim(request.services().leases(), asked)
        .deliver(leases -> pulled(request.services(), leases, length.isEmpty()));
  }

  private static Answer pulled(TenantServices services, List<Lease> leases, boolean isUsualLength) {
    ObjectNode json = Json.object();
    leases.stream()
        .findFirst()
        .ifPresentOrElse(
            lease ->
                json.set(
                    "job",
                    job(lease, isUsualLength ? lengthened(services, lease) : lease.expiresAt())),
            () -> json.putNull("job"));
    return Answer.ok(json);
  }

  /** Gives a lease the usual length, if it has another; answers when it ends. */
  private static Instant lengthened(TenantServices services, Lease lease) {
    Duration usual = usual(services.settings(), lease.policy());
    if (usual.equals(lease.policy().leaseLength())) {
      return lease.expiresAt();
    }
    return services
        .leases()
        .extend(lease.worker(), List.of(lease.key()), Optional.of(usual))
        .getFirst()
        .expiresAt()
        .orElse(lease.expiresAt());
  }

  /**
   * The length of a lease whose worker asks for none: that of the job or its queue. In another
   * queue than the dialect's own, neither may have one. The engine's default is then too short for
   * these workers, who send no heartbeats, and the setting takes its place. A lease length that
   * somebody set to exactly that default cannot be told from one that nobody set.
   */
  private static Duration usual(Settings settings, Policy policy) {
    Duration said = policy.leaseLength();
    return said.equals(Policy.DEFAULTS.leaseLength())
        ? settings.inForce(Setting.LEASE_SEC_DEFAULT).map(Duration::ofSeconds).orElse(said)
        : said;
  }

  private static Duration lease(long seconds) {
    long most = Policy.LONGEST_LEASE.toSeconds();
    if (seconds < 1 || seconds > most) {
      throw HoldfastException.invalid("lease_sec", seconds, "1 to " + most);
    }
    return Duration.ofSeconds(seconds);
  }

  /** Who asks: as it says, or else where it asks from. */
  private static String worker(Request request) {
    String said = request.http().header(WORKER);
    return said == null || said.isEmpty()
        ? request.http().req().getRemoteAddr()
        : Limits.name(WORKER, said);
  }

  private static ObjectNode job(Lease lease, Instant expiresAt) {
    ObjectNode json = Json.object();
    json.put("id", lease.key().jobId().toString());
    json.put("attempt_id", lease.key().fence());
    json.put("kind", lease.kind());
    Json.put(json, "payload", lease.args());
    json.put("attempts", lease.attempt().number());
    json.put("max_attempts", lease.policy().maxAttempts() + lease.attempt().granted());
    json.put("target_count", lease.policy().targetCount().orElse(null));
    Json.put(json, "last_cursor", lease.progress().cursor());
    json.put("lease_expires_at", expiresAt.toString());
    return json;
  }

  private Answer report(Request request) {
    String worker = worker(request);
    PullReport said = PullReport.read(request.body());
    ReservedServices reserved = request.services().reserved();
    Job job = find(reserved, said);
    workers.spoke(request.services().tenant().name(), worker);
    LeaseKey key =
        reserved.leases().key(job.id(), said.attempt().orElseGet(() -> fenceOf(worker, job)));
    Submission submission = said.submission(() -> usual(reserved.settings(), job.policy()));
    return switch (submit(request.services(), key, said, submission)) {
      case ReportReply.Stored stored -> Answer.ok(stored(said, stored, find(reserved, said)));
      case ReportReply.Repeated() ->
          Answer.ok(Json.object().put("ok", true).put("idempotent", true));
      case ReportReply.Lost() ->
          throw Refusal.of(
              409,
              ErrorCode.LEASE_LOST.name(),
              "The lease of job %s is over, or somebody else's".formatted(job.id()));
    };
  }

  // All that such a worker says renews its lease, and nothing else does. So nothing of that waits
  // behind others; but what takes the database longer than a beat is stored in its turn.
  private static ReportReply submit(
      TenantServices services, LeaseKey key, PullReport said, Submission submission) {
    if (said.isBeat()) {
      return services.reserved().leases().submit(key, submission);
    }
    services.reserved().leases().keep(key, submission);
    return services.leases().submit(key, submission);
  }

  // Without the attempt, its worker's name has to do.
  private static long fenceOf(String worker, Job job) {
    return job.lease().filter(lease -> lease.owner().equals(worker)).isPresent()
        ? job.fence()
        : NO_FENCE;
  }

  private static Job find(ReservedServices reserved, PullReport said) {
    return reserved
        .jobs()
        .get(said.jobId())
        .orElseThrow(
            () -> new HoldfastException(ErrorCode.NOT_FOUND, "There is no job " + said.jobId()));
  }

  // One that was stopped is over as well: there is nothing left to do for its worker.
  private static boolean isDone(JobState ended, PullReport said) {
    return switch (ended) {
      case SUCCEEDED, CANCELLED, PAUSED -> true;
      case FAILED -> !said.hasFailed();
      case PENDING, QUEUED, DISPATCHED, RUNNING, STOPPING -> false;
    };
  }

  private static ObjectNode stored(PullReport said, ReportReply.Stored stored, Job job) {
    Optional<JobState> ended = stored.ended();
    ObjectNode json = Json.object().put("ok", true);
    json.put("added", stored.added());
    json.put("duplicates", stored.duplicates());
    json.put("progress_count", job.progress().progressCount().orElse(0));
    json.put("result_count", job.progress().resultCount().orElse(0));
    json.put("done", ended.filter(state -> isDone(state, said)).isPresent());
    Json.put(
        json,
        "done_reason",
        job.doneReason().filter(reason -> ended.equals(Optional.of(JobState.SUCCEEDED))));
    Json.put(
        json,
        "lease_expires_at",
        job.lease().filter(lease -> ended.isEmpty()).map(Job.LeaseInfo::expiresAt));
    return json;
  }
}
