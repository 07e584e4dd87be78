package dev.holdfast.lease;

import dev.holdfast.job.Failure;
import dev.holdfast.job.JobState;
import dev.holdfast.job.Transition;
import dev.holdfast.tenant.Db;
import dev.holdfast.tenant.Tenant;
import java.util.List;
import java.util.Optional;
import java.util.UUID;
import org.jdbi.v3.core.Handle;

/**
 * Ends running attempts on an operator's word, without waiting for their workers. The job's state
 * changes at once; what it held passes on as if its worker had fallen silent.
 */
public final class ForcedEnds {

  private static final String LEASED =
      """
      SELECT {lease_columns}, lane.queue, lane.kind, queue.defaults
        FROM {schema}.job
        JOIN {schema}.lane ON lane.id = job.lane
        LEFT JOIN {schema}.queue ON queue.name = lane.queue
       WHERE job.id = :id AND job.worker IS NOT NULL
         FOR UPDATE OF job
      """
          .replace("{lease_columns}", LeaseRow.COLUMNS);

  // The forced end overrules an earlier stop request.
  private static final String FORGET_STOP =
      """
      UPDATE {schema}.job
         SET state = 'running', stop_as = NULL
       WHERE id = :id AND fence = :fence AND state = 'stopping'
      """;

  private final LeaseRow leaseRow;
  private final Transitions transitions;
  private final String leased;
  private final String forgetStop;

  public ForcedEnds(Tenant tenant, Consequences consequences) {
    Db db = tenant.db();
    this.leaseRow = LeaseRow.of(tenant);
    this.transitions = new Transitions(db, consequences);
    this.leased = db.sql(LEASED);
    this.forgetStop = db.sql(FORGET_STOP);
  }

  /** Ends the attempt, and the job in this state. The caller has locked the job's resources. */
  public void finish(Handle handle, UUID id, JobState state, Failure failure) {
    end(handle, id, Transition.forced(state, failure));
  }

  /**
   * Ends the attempt without counting it, and queues the job again. The caller has locked the job's
   * resources.
   */
  public void requeue(Handle handle, UUID id) {
    end(handle, id, Transition.requeued());
  }

  private void end(Handle handle, UUID id, Transition transition) {
    Lease lease = handle.createQuery(leased).bind("id", id).map(leaseRow).one();
    handle.createUpdate(forgetStop).bind("id", id).bind("fence", lease.key().fence()).execute();
    transitions.apply(handle, List.of(new Ended(lease, transition, false, Optional.empty())));
  }
}
