package dev.holdfast.api;

import dev.holdfast.error.ErrorCode;
import dev.holdfast.error.HoldfastException;
import dev.holdfast.job.Failure;
import dev.holdfast.job.JobState;
import dev.holdfast.job.Outcome;
import dev.holdfast.job.Payload;
import dev.holdfast.lease.ClaimRequest;
import dev.holdfast.lease.Claimed;
import dev.holdfast.lease.Extension;
import dev.holdfast.lease.Extension.Status;
import dev.holdfast.lease.Finish;
import dev.holdfast.lease.FinishReply;
import dev.holdfast.lease.Halving;
import dev.holdfast.lease.Lease;
import dev.holdfast.lease.LeaseSource;
import dev.holdfast.lease.Report;
import dev.holdfast.lease.ReportReply;
import dev.holdfast.lease.TransactionWork;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.UUID;
import java.util.concurrent.ConcurrentHashMap;
import java.util.stream.IntStream;
import tools.jackson.databind.node.ArrayNode;
import tools.jackson.databind.node.ObjectNode;

/**
 * Leases of one tenant, from a server. A request whose answer is lost is sent again if it does no
 * harm when it is executed twice. Thread-safe.
 */
public final class HttpLeases implements LeaseSource {

  private static final Portions<Lease, Beat> BEATS = new Portions<>(Beat::of, lease -> 0);
  private static final Portions<Finish, String> ENDS =
      new Portions<>(finish -> finish.lease().worker(), HttpLeases::chars);

  private final Wire wire;
  private final Duration wait;
  private final Map<String, String> unansweredClaims = new ConcurrentHashMap<>(); // by worker

  HttpLeases(Wire wire, Duration wait) {
    this.wire = wire;
    this.wait = wait;
  }

  /** The same leases, with claims that wait this long at the server when there is no work. */
  HttpLeases waiting(Duration length) {
    return new HttpLeases(wire, length);
  }

  @Override
  public Claimed claim(ClaimRequest request) {
    // A thorough claim asks what there is now.
    Duration patience = request.thorough() ? Duration.ZERO : wait;
    long sentNanos = System.nanoTime();
    List<Lease> leases =
        read(
            request.claimId().isPresent()
                ? ask(request, patience)
                : askUnderAnId(request, patience),
            request.worker());
    boolean waited = System.nanoTime() - sentNanos >= patience.toNanos();
    return new Claimed(leases, untilNext(!leases.isEmpty() || waited));
  }

  // Jobs granted to a claim whose answer was lost are still there, under its id. An answer that
  // arrived and cannot be read would be no better the next time, and the worker would get no other
  // jobs.
  private Fields askUnderAnId(ClaimRequest request, Duration patience) {
    String unanswered = unansweredClaims.remove(request.worker());
    String id = unanswered == null ? UUID.randomUUID().toString() : unanswered;
    try {
      return ask(request.withClaimId(id), patience);
    } catch (RuntimeException e) {
      unansweredClaims.put(request.worker(), id);
      throw e;
    }
  }

  private Fields ask(ClaimRequest request, Duration patience) {
    ObjectNode body = LeaseJson.writeClaim(request).put("wait_seconds", Json.seconds(patience));
    return wire.postRepeatable("/leases", body, patience).body();
  }

  private static List<Lease> read(Fields answer, String worker) {
    return answer.objects("leases").stream().map(lease -> LeaseJson.read(lease, worker)).toList();
  }

  // The server does the waiting, so the next claim follows at once; except after an answer that
  // came early and without jobs, as from a server that closes.
  private Optional<Duration> untilNext(boolean asAgreed) {
    return wait.isPositive() && asAgreed ? Optional.of(Duration.ZERO) : Optional.empty();
  }

  /**
   * What the leases that one request renews have in common. The length is always sent: the worker
   * counts on it, and another request may have asked for another one.
   */
  private record Beat(String worker, Duration length) {

    static Beat of(Lease lease) {
      return new Beat(lease.worker(), lease.length());
    }
  }

  @Override
  public List<Extension> extend(List<Lease> leases) {
    return BEATS.ask(leases, this::extend);
  }

  private List<Extension> extend(Beat beat, List<Lease> leases) {
    ObjectNode body = Json.object().put("worker", beat.worker);
    body.put("lease_seconds", Json.seconds(beat.length));
    ArrayNode keys = body.putArray("leases");
    leases.forEach(lease -> putKey(keys.addObject(), lease));
    List<Fields> results = results("/leases/extend", body, leases.size());
    return IntStream.range(0, leases.size())
        .mapToObj(i -> new Extension(leases.get(i).key(), status(results.get(i))))
        .toList();
  }

  private static Status status(Fields said) {
    String status = said.text("status");
    return switch (status) {
      // Busy: the worker still has the lease, but it was not extended, and self-fencing must not
      // assume that it was.
      case "extended" -> said.flag("busy") ? Status.BUSY : Status.EXTENDED;
      case "stop_requested" -> Status.STOP_REQUESTED;
      case "lost" -> Status.LOST;
      default -> throw unheardOf(status);
    };
  }

  @Override
  public ReportReply report(Lease lease, Report report) {
    ObjectNode body = ReportJson.write(report).put("fence", lease.key().fence());
    String path = "/jobs/" + lease.key().jobId() + "/progress";
    try {
      // Log lines can be stored twice, as when a database's answer is lost. Tokens must not.
      boolean repeatable =
          report.idempotencyKey().isPresent()
              || (report.inputTokens() == 0 && report.outputTokens() == 0);
      return reply((repeatable ? wire.postRepeatable(path, body) : wire.post(path, body)).body());
    } catch (HoldfastException e) {
      if (e.code() == ErrorCode.LEASE_LOST || e.code() == ErrorCode.NOT_FOUND) {
        return new ReportReply.Lost();
      }
      throw e;
    }
  }

  private static ReportReply reply(Fields said) {
    return said.flag("idempotent")
        ? new ReportReply.Repeated()
        : new ReportReply.Stored(
            said.optionalInt("added").orElse(0),
            said.optionalInt("duplicates").orElse(0),
            said.optionalText("state").map(JobState::of));
  }

  @Override
  public List<FinishReply> finish(List<Finish> finished) {
    return ENDS.ask(finished, this::finish);
  }

  /** Sends outcomes. The job of one that cannot be sent fails, and no other. */
  private List<FinishReply> finish(String worker, List<Finish> ends) {
    return Halving.of(
        ends,
        some -> send(worker, some),
        HttpLeases::isRefusal,
        (end, why) -> {
          Failure failure = Failure.unstorable(String.valueOf(why.getMessage()));
          return send(worker, List.of(new Finish(end.lease(), Outcome.failed(failure)))).getFirst();
        });
  }

  private static boolean isRefusal(RuntimeException e) {
    return e instanceof HoldfastException refusal
        && (refusal.code() == ErrorCode.INVALID_ARGUMENT
            || refusal.code() == ErrorCode.BAD_PAYLOAD);
  }

  private List<FinishReply> send(String worker, List<Finish> ends) {
    ObjectNode body = Json.object().put("worker", worker);
    ArrayNode results = body.putArray("results");
    ends.forEach(end -> results.add(written(end)));
    return results("/leases/finish", body, ends.size()).stream()
        .map(HttpLeases::finishReply)
        .toList();
  }

  /** Writes an outcome as JSON, to be kept until it is known to be recorded. */
  public static ObjectNode written(Finish end) {
    ObjectNode result = putKey(Json.object(), end.lease());
    end.logExcerpt().ifPresent(excerpt -> result.put("log_excerpt", excerpt));
    OutcomeJson.write(result, end.outcome());
    return result;
  }

  /**
   * Sends an outcome that was {@link #written}, perhaps by an earlier process.
   *
   * @param worker the worker whose lease it was
   */
  public FinishReply finishWritten(String worker, ObjectNode end) {
    ObjectNode body = Json.object().put("worker", worker);
    body.putArray("results").add(end);
    return finishReply(results("/leases/finish", body, 1).getFirst());
  }

  private static int chars(Finish end) {
    return end.outcome() instanceof Outcome.Succeeded(Payload result) ? result.json().length() : 0;
  }

  private static FinishReply finishReply(Fields said) {
    String status = said.text("status");
    return switch (status) {
      case "recorded" -> new FinishReply.Recorded(JobState.of(said.text("state")));
      case "lost" -> new FinishReply.Lost();
      default -> throw unheardOf(status);
    };
  }

  /** One result for each item that was sent, in their order. */
  private List<Fields> results(String path, ObjectNode body, int sent) {
    List<Fields> results = wire.postRepeatable(path, body).body().objects("results");
    if (results.size() != sent) {
      throw new HoldfastException(
          ErrorCode.UNAVAILABLE, "%d answers to %d at %s".formatted(results.size(), sent, path));
    }
    return results;
  }

  private static HoldfastException unheardOf(String status) {
    return new HoldfastException(
        ErrorCode.UNAVAILABLE, "the server's answer is a status unheard of: " + status);
  }

  private static ObjectNode putKey(ObjectNode json, Lease lease) {
    return json.put("job_id", lease.key().jobId().toString()).put("fence", lease.key().fence());
  }

  @Override
  public FinishReply finishInTransaction(Lease lease, TransactionWork work) {
    throw new UnsupportedOperationException(
        "a worker over HTTP shares no transaction with its job: make what the handler writes safe"
            + " to repeat, or run the worker on the database");
  }
}
