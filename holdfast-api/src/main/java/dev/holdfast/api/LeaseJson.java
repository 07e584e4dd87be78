package dev.holdfast.api;

import dev.holdfast.error.HoldfastException;
import dev.holdfast.job.Attempt;
import dev.holdfast.job.Job;
import dev.holdfast.job.Limits;
import dev.holdfast.job.SlotKey;
import dev.holdfast.lease.ClaimRequest;
import dev.holdfast.lease.Lease;
import dev.holdfast.lease.LeaseKey;
import java.util.HashSet;
import java.util.Optional;
import java.util.Set;
import tools.jackson.databind.node.ObjectNode;

/** Claims and leases as JSON. */
public final class LeaseJson {

  private LeaseJson() {}

  /** Writes a claim as {@link #readClaim} reads it. */
  static ObjectNode writeClaim(ClaimRequest request) {
    ObjectNode json = Json.object();
    json.put("worker", request.worker());
    request.queues().forEach(json.putArray("queues")::add);
    request.kinds().ifPresent(kinds -> kinds.forEach(json.putArray("kinds")::add));
    json.put("limit", request.limit());
    json.put("host", request.host());
    ObjectNode labels = json.putObject("labels");
    request.labels().forEach(labels::put);
    request.leaseLength().ifPresent(length -> json.put("lease_seconds", Json.seconds(length)));
    request.claimId().ifPresent(id -> json.put("claim_id", id));
    json.put("acknowledge", request.acknowledges());
    return json;
  }

  public static ClaimRequest readClaim(Fields said) {
    return new ClaimRequest(
        said.text("worker"),
        few(said, "queues", Limits.QUEUES_OF_WORKER),
        said.any("kinds").map(kinds -> few(said, "kinds", Limits.KINDS_OF_WORKER)),
        said.optionalInt("limit").orElse(1),
        said.optionalText("host").orElse(said.text("worker")), // by default the worker is its host
        said.textMap("labels"),
        said.optionalSeconds("lease_seconds"),
        said.optionalText("claim_id"),
        false,
        said.flag("acknowledge"));
  }

  // Limited, because what every worker says about itself is kept as long as the worker exists.
  private static Set<String> few(Fields said, String field, int most) {
    Set<String> names = new HashSet<>(said.texts(field));
    if (names.size() > most) {
      throw HoldfastException.invalid(field, names.size() + " names", "at most " + most);
    }
    return names;
  }

  /**
   * Writes a lease.
   *
   * @param job the job as it is now: it may have been asked to stop since, and its worker should
   *     know
   */
  public static ObjectNode write(Lease lease, Job job) {
    ObjectNode json = Json.object();
    json.set("job", JobJson.writeWhole(job));
    json.put("tenant", lease.key().tenant());
    json.put("fence", lease.key().fence());
    Json.put(json, "expires_at", lease.expiresAt());
    json.put("lease_seconds", Json.seconds(lease.length()));
    json.put("attempt", lease.attempt().number());
    json.put("earlier_failures", lease.attempt().earlierFailures());
    lease
        .policy()
        .trace()
        .ifPresent(trace -> {
          json.put("traceparent", trace.parent());
          Json.put(json, "tracestate", trace.state());
        });
    lease
        .slot()
        .ifPresent(slot ->
            json.putObject("slot")
                .put("schedule", slot.schedule())
                .put("scheduled_for", slot.scheduledFor().toString()));
    return json;
  }

  /**
   * Reads a lease as {@link #write} writes it.
   *
   * @param worker the worker that claimed it
   */
  static Lease read(Fields said, String worker) {
    Job job = JobJson.read(said.object("job"));
    return new Lease(
        new LeaseKey(said.text("tenant"), job.id(), said.number("fence")),
        worker,
        job.kind(),
        job.queue(),
        job.args(),
        new Attempt(
            said.optionalInt("attempt").orElse(job.attempt()),
            said.optionalInt("earlier_failures").orElse(0),
            job.granted()),
        job.policy(),
        job.needs(),
        job.progress(),
        job.runAt(),
        said.optionalSeconds("lease_seconds").orElse(job.policy().leaseLength()),
        said.instant("expires_at"),
        slot(said));
  }

  private static Optional<SlotKey> slot(Fields said) {
    return said.optionalObject("slot")
        .map(slot -> new SlotKey(slot.text("schedule"), slot.instant("scheduled_for")));
  }
}
