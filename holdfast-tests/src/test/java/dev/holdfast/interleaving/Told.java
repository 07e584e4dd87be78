package dev.holdfast.interleaving;

import dev.holdfast.job.JobAct;
import dev.holdfast.job.JobState;
import dev.holdfast.job.Outcome;
import dev.holdfast.lease.Finish;
import dev.holdfast.lease.FinishReply;
import dev.holdfast.lease.Lease;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.Queue;
import java.util.UUID;
import java.util.concurrent.ConcurrentLinkedQueue;

/**
 * What workers and people were told of their ends and acts, which must be what is on record.
 * Thread-safe.
 */
final class Told {

  private static final String ACTS =
      """
      SELECT job_id || ' ' || act FROM {schema}.audit WHERE job_id IS NOT NULL AND actor = 'ada'
      """;

  // A failure with its code, which tells a worker's from the reaper's.
  private static final String ENDS =
      """
      SELECT job_id || ' ' || fence || ' ' || outcome
             || CASE outcome WHEN 'failed' THEN ' ' || error_code ELSE '' END
        FROM {schema}.attempt_all
      """;

  private static final String JOBS =
      """
      SELECT id FROM {schema}.job_all
      """;

  private static final String MOVERS =
      """
      SELECT job_id FROM {schema}.subject
      """;

  private record End(Finish finish, FinishReply reply) {

    String attempt() {
      return finish.lease().key().jobId() + " " + finish.lease().key().fence() + " ";
    }

    String asReported() {
      String code =
          finish.outcome() instanceof Outcome.Failed failed ? " " + failed.failure().code() : "";
      return attempt() + finish.outcome().stored() + code;
    }

    boolean isIn(List<String> ends) {
      return switch (reply) {
        case FinishReply.Recorded(JobState state) when state == JobState.SUCCEEDED ->
            ends.contains(attempt() + "succeeded");
        case FinishReply.Recorded recorded ->
            ends.stream().anyMatch(end -> end.startsWith(attempt()));
        case FinishReply.Lost lost ->
            !ends.contains(asReported()) && !ends.contains(attempt() + "succeeded");
        case FinishReply.NotNow later -> false; // nothing here keeps an end from being stored
      };
    }
  }

  private final Queue<String> acts = new ConcurrentLinkedQueue<>();
  private final Queue<End> ends = new ConcurrentLinkedQueue<>();
  private final Queue<UUID> started = new ConcurrentLinkedQueue<>();

  void acted(UUID job, JobAct act) {
    acts.add(job + " " + act.stored());
  }

  void ended(List<Finish> finishes, List<FinishReply> replies) {
    for (int i = 0; i < finishes.size(); i++) {
      ends.add(new End(finishes.get(i), replies.get(i)));
    }
  }

  void started(Lease lease) {
    started.add(lease.key().jobId());
  }

  /**
   * Of a job that was dispatched before the play: its subject moved if its worker was told that it
   * started, and otherwise it did not move. Where two jobs have one subject, that of the later one
   * is all there is to see.
   */
  Optional<String> complaint(Lease dispatched, Tables tables) throws SQLException {
    UUID job = dispatched.key().jobId();
    boolean moved = tables.column(MOVERS).contains(job.toString());
    boolean overtaken = !moved && !tables.column(MOVERS).isEmpty();
    return moved == started.contains(job) || (started.contains(job) && overtaken)
        ? Optional.empty()
        : Optional.of("%s started: %s, moved its subject: %s".formatted(job, !moved, moved));
  }

  /** An act that was refused is on record nowhere, and one that was not is there once. */
  List<String> complaints(Tables tables) throws SQLException {
    List<String> complaints = new ArrayList<>();
    List<String> recorded = new ArrayList<>(tables.column(ACTS));
    for (String act : acts) {
      if (!recorded.remove(act)) {
        complaints.add("told of an act that is not on record: " + act);
      }
    }
    recorded.forEach(act -> complaints.add("nobody was told of an act on record: " + act));
    List<String> attempts = tables.column(ENDS);
    List<String> jobs = tables.column(JOBS);
    ends.stream()
        .filter(
            end -> jobs.contains(end.finish.lease().key().jobId().toString())) // not deleted since
        .filter(end -> !end.isIn(attempts))
        .forEach(end -> complaints.add("%s was told %s".formatted(end.attempt(), end.reply)));
    return complaints;
  }
}
