package dev.holdfast.lease;

import dev.holdfast.job.JobState;
import dev.holdfast.job.Moved;
import dev.holdfast.lease.Extension.Status;
import dev.holdfast.slot.Slots;
import dev.holdfast.subject.Subjects;
import dev.holdfast.tenant.Db;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.jdbi.v3.core.Handle;

/**
 * Records that workers start what was dispatched to them; from then on a job's subject is in
 * progress. Reporting it again changes nothing.
 */
final class Starts {

  private static final String START =
      """
      UPDATE {schema}.job
         SET state = 'running', started_at = {schema}.clock(),
             times_out_at = {schema}.clock() + :timeout_ms * interval '1 millisecond'
       WHERE id = :job_id AND fence = :fence AND state = 'dispatched'
      """;

  private static final String STATE =
      """
      SELECT state FROM {schema}.job WHERE id = :job_id AND fence = :fence AND worker IS NOT NULL
      """;

  private final Db db;
  private final Subjects subjects;
  private final Slots slots;
  private final Consequences consequences;
  private final String start;
  private final String state;

  Starts(Db db, Consequences consequences) {
    this.db = db;
    this.subjects = new Subjects(db);
    this.slots = new Slots(db);
    this.consequences = consequences;
    this.start = db.sql(START);
    this.state = db.sql(STATE);
  }

  /**
   * Starts the jobs in the order of their ids, in which all code locks them, and only then moves
   * their subjects; returns what became of each lease.
   */
  Map<LeaseKey, Status> start(List<Lease> leases) {
    return db.inTransaction(handle -> {
      Map<LeaseKey, Status> statuses = new HashMap<>();
      List<Lease> started = new ArrayList<>();
      leases.stream()
          .sorted(Lease.BY_JOB)
          .forEach(lease -> {
            if (start(handle, lease)) {
              started.add(lease);
            }
            statuses.put(lease.key(), status(handle, lease.key()));
          });
      subjects.move(handle, started.stream().flatMap(lease -> lease.started().stream()).toList());
      List<Moved> moved =
          started.stream()
              .map(lease -> lease.moved(JobState.DISPATCHED, JobState.RUNNING))
              .toList();
      slots.follow(handle, moved);
      consequences.moved(handle, moved);
      return statuses;
    });
  }

  private boolean start(Handle handle, Lease lease) {
    return handle
            .createUpdate(start)
            .bind("job_id", lease.key().jobId())
            .bind("fence", lease.key().fence())
            .bind(
                "timeout_ms",
                lease.policy().timeout().length().map(Duration::toMillis).orElse(null))
            .execute()
        == 1;
  }

  private Status status(Handle handle, LeaseKey key) {
    return handle
        .createQuery(state)
        .bind("job_id", key.jobId())
        .bind("fence", key.fence())
        .mapTo(String.class)
        .findOne()
        .map(JobState::of)
        .map(now -> now == JobState.STOPPING ? Status.STOP_REQUESTED : Status.EXTENDED)
        .orElse(Status.LOST);
  }
}
