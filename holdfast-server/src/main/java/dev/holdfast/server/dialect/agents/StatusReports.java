package dev.holdfast.server.dialect.agents;

import dev.holdfast.error.ErrorCode;
import dev.holdfast.error.HoldfastException;
import dev.holdfast.job.Failure;
import dev.holdfast.job.JobState;
import dev.holdfast.job.Limits;
import dev.holdfast.job.Outcome;
import dev.holdfast.lease.FencelessReports;
import dev.holdfast.lease.FencelessReports.AgentReport;
import dev.holdfast.lease.FinishReply;
import dev.holdfast.lease.LeaseKey;
import dev.holdfast.lease.RemoteLeases;
import dev.holdfast.server.http.Refusal;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.UUID;

/**
 * What agents report of their jobs. They send no fence, so the lease that is in force when they
 * speak stands in for it: who has it may speak, and what they say is written under its fence, so
 * that it counts for nothing should the lease pass on in between. Thread-safe.
 */
final class StatusReports {

  private static final int MOST_TRIES = 5;
  private static final String AGENT_FAILED = "AGENT_FAILED";

  private final AgentJobs jobs;
  private final FencelessReports reports;
  private final Leases leases;
  private final JobFiles files;

  /**
   * Reports on jobs.
   *
   * @param jobs by connections that nobody else takes, as are the reports
   */
  StatusReports(AgentJobs jobs, FencelessReports reports, Leases leases, JobFiles files) {
    this.jobs = jobs;
    this.reports = reports;
    this.leases = leases;
    this.files = files;
  }

  /** The leases for what must not be late, and for ends, which may be. */
  record Leases(RemoteLeases pulse, RemoteLeases work) {}

  /**
   * What is said.
   *
   * @param worker empty counts as whoever has the job
   */
  record Said(UUID jobId, AgentStatus status, Optional<String> worker, AgentReport report) {}

  /** Who has the job now, and so speaks where no name is given. */
  Optional<String> owner(UUID jobId) {
    return jobs.find(jobId).filter(job -> job.state().isLeased()).flatMap(AgentJob::worker);
  }

  /** Records it and shows it; answers the status after it, or refuses. */
  AgentStatus report(Said said) {
    for (int tries = 0; tries < MOST_TRIES; tries++) {
      AgentJob job = jobs.find(said.jobId).orElseThrow(() -> notFound(said.jobId));
      String worker = owner(job, said);
      boolean recorded =
          switch (job.status().hears(said.status)) {
            case REFUSED -> throw refused(job, said.status);
            case REPEATED -> !job.state().isLeased() || say(job, worker, job.state(), said);
            case MOVES -> move(job, worker, said);
          };
      if (recorded) {
        files.show(job.id());
        return said.status;
      }
      // It moved between the look and the word: what is said may no longer fit.
    }
    throw conflict(Map.of(), "job " + said.jobId + " moves too fast; report again");
  }

  // A repeat of what is known may come from who had it last: the answer to the first got lost.
  private static String owner(AgentJob job, Said said) {
    Optional<String> owner = job.lastOwner();
    String speaks = said.worker.or(() -> owner).orElse("");
    boolean moves = job.status().hears(said.status) == AgentStatus.Verdict.MOVES;
    if (owner.isEmpty() || !owner.get().equals(speaks) || (moves && !job.state().isLeased())) {
      throw conflict(
          Map.of("status", job.status().word()),
          "job %s is %s, and not leased to %s"
              .formatted(job.id(), job.status().word(), speaks.isEmpty() ? "anybody" : speaks));
    }
    return speaks;
  }

  private boolean say(AgentJob job, String worker, JobState state, Said said) {
    return reports.say(worker, key(job), state, said.report);
  }

  private boolean move(AgentJob job, String worker, Said said) {
    return switch (said.status) {
      case RUNNING ->
          !leases.pulse.start(worker, List.of(key(job))).isEmpty()
              && say(job, worker, JobState.RUNNING, said);
      case STOP_REQUESTED ->
          leases.pulse.requestStop(worker, key(job)) && say(job, worker, JobState.STOPPING, said);
      case QUEUED ->
          end(job, worker, new Outcome.Released("given back by its agent"), JobState.QUEUED);
      // What it says of its end is kept first, under the lease: with the end, that is over.
      case FINISHED ->
          say(job, worker, job.state(), said) && end(job, worker, succeeded(), JobState.SUCCEEDED);
      case FAILED ->
          say(job, worker, job.state(), said) && end(job, worker, failed(said), JobState.FAILED);
      case STOPPED, CANCELED ->
          say(job, worker, job.state(), said)
              && end(job, worker, new Outcome.Stopped()).isPresent();
      case LAUNCHING, DISPATCHED -> false; // nothing leased becomes that
    };
  }

  // A stop request that came in between may have turned the end into another one. The agent then
  // hears what the job is.
  private boolean end(AgentJob job, String worker, Outcome outcome, JobState expected) {
    Optional<JobState> became = end(job, worker, outcome);
    if (became.isPresent() && became.get() != expected) {
      files.show(job.id());
    }
    return became.equals(Optional.of(expected));
  }

  /** What the job became; empty where the agent no longer has it. */
  private Optional<JobState> end(AgentJob job, String worker, Outcome outcome) {
    RemoteLeases.End end =
        new RemoteLeases.End(worker, job.id(), job.fence(), outcome, Optional.empty());
    return switch (leases.work.finish(List.of(end)).getFirst()) {
      case FinishReply.Recorded(JobState state) -> Optional.of(state);
      case FinishReply.Lost() -> Optional.empty();
      case FinishReply.NotNow(String why) -> throw new HoldfastException(ErrorCode.DATABASE, why);
    };
  }

  private static Outcome succeeded() {
    return Outcome.succeeded();
  }

  private static Outcome failed(Said said) {
    String message =
        said.report
            .error()
            .or(() -> said.report.exitCode().map(code -> "Its container ended with " + code))
            .orElse("Its agent reported that it failed");
    return Outcome.failed(
        Failure.permanent(AGENT_FAILED, Limits.cut(message, Limits.ERROR_MESSAGE_CHARS)));
  }

  private LeaseKey key(AgentJob job) {
    return leases.work.key(job.id(), job.fence());
  }

  static Refusal.Refused notFound(Object id) {
    return new Refusal(
            404, ErrorCode.NOT_FOUND.name(), "there is no job " + id, Map.of("status", "not_found"))
        .asException();
  }

  private static Refusal.Refused refused(AgentJob job, AgentStatus said) {
    return conflict(
        Map.of("status", job.status().word()),
        "job %s is %s and cannot become %s".formatted(job.id(), job.status().word(), said.word()));
  }

  private static Refusal.Refused conflict(Map<String, String> more, String detail) {
    return new Refusal(409, ErrorCode.STATE_CONFLICT.name(), detail, more).asException();
  }
}
