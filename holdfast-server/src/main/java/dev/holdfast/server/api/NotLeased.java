package dev.holdfast.server.api;

import dev.holdfast.error.ErrorCode;
import dev.holdfast.job.Job;
import dev.holdfast.job.JobState;
import dev.holdfast.server.http.Refusal;
import java.util.Map;
import java.util.UUID;

/** The answer to a worker whose report was refused. */
final class NotLeased {

  private NotLeased() {}

  static Refusal.Refused of(Job job, long fence) {
    return job.state() == JobState.DISPATCHED && job.fence() == fence
        ? notStarted(job)
        : lost(job.id());
  }

  static Refusal.Refused lost(UUID id) {
    return Refusal.of(
        409, ErrorCode.LEASE_LOST.name(), "job " + id + " is no longer leased under that fence");
  }

  // The lease is still valid; a worker that took it for lost would give up its work.
  private static Refusal.Refused notStarted(Job job) {
    return new Refusal(
            409,
            ErrorCode.STATE_CONFLICT.name(),
            "job " + job.id() + " has not begun: say so by POST /leases/start",
            Map.of("state", job.state().stored()))
        .asException();
  }
}
