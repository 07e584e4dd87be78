package dev.holdfast.interleaving;

import dev.holdfast.rig.Invariant;
import dev.holdfast.rig.Sandbox;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.ArrayList;
import java.util.List;

/** What must not be found in the tables, whoever did what in which order. */
record Tables(Sandbox sandbox) {

  private static final String TOO_MANY_IN_A_QUEUE =
      """
      SELECT format('%s of at most %s run in %s', count(*), concurrency_limit, queue.name)
        FROM {schema}.job
        JOIN {schema}.lane ON lane.id = job.lane
        JOIN {schema}.queue ON queue.name = lane.queue
       WHERE job.worker IS NOT NULL
       GROUP BY queue.name, concurrency_limit
      HAVING count(*) > concurrency_limit
      """;

  private static final String TOO_MANY_RUNS =
      """
      SELECT format('%s of at most %s runs of %s', count(*), schedule.max_instances, schedule.name)
        FROM {schema}.slot
        JOIN {schema}.schedule ON schedule.name = slot.schedule
       WHERE slot.status IN ('queued', 'running')
       GROUP BY schedule.name, schedule.max_instances
      HAVING count(*) > schedule.max_instances
      """;

  private static final String TWICE =
      """
      SELECT format('claim %s was answered twice', claim_id)
        FROM {schema}.claim
       GROUP BY claim_id
      HAVING count(*) > 1
      UNION ALL
      SELECT format('%s has two ends under fence %s', job_id, fence)
        FROM {schema}.attempt_all
       GROUP BY job_id, fence
      HAVING count(*) > 1
      UNION ALL
      SELECT format('%s has %s twice under fence %s', job_id, resource, fence)
        FROM {schema}.hold
       GROUP BY job_id, resource, fence
      HAVING count(*) > 1
      UNION ALL
      SELECT format('%s is the job of two slots', job_id)
        FROM {schema}.slot
       WHERE job_id IS NOT NULL
       GROUP BY job_id
      HAVING count(*) > 1
      """;

  private static final String SUBJECTS_ELSEWHERE =
      """
      SELECT format('the subject of %s, which is %s, is %s', job_all.id, job_all.state,
                    subject.state)
        FROM {schema}.subject
        JOIN {schema}.job_all ON job_all.id = subject.job_id
       WHERE subject.state <> CASE WHEN job_all.state IN ('failed', 'cancelled') THEN 'failed'
                                   WHEN job_all.state = 'succeeded' THEN 'active'
                                   ELSE job_all.subject_during
                               END
      """;

  /** The subjects that are not where the job that moved them last is. */
  List<String> subjectsElsewhere() throws SQLException {
    return column(SUBJECTS_ELSEWHERE);
  }

  List<String> twice() throws SQLException {
    return column(TWICE);
  }

  List<String> tooManyRuns() throws SQLException {
    return column(TOO_MANY_RUNS);
  }

  List<String> tooManyInAQueue() throws SQLException {
    return column(TOO_MANY_IN_A_QUEUE);
  }

  /** Of the invariants, and of how many have a resource. */
  List<String> violations(int mostHolders) throws SQLException {
    List<String> violations =
        new ArrayList<>(
            column(
                "SELECT invariant || ': ' || how FROM ("
                    + Invariant.allViolations()
                    + ") AS every"));
    violations.addAll(tooManyHolders(mostHolders));
    return violations;
  }

  // The clock stands still, so whether a capacity was lowered before or after a grant cannot be
  // told by it; scenes say themselves how many can have a resource.
  private List<String> tooManyHolders(int most) throws SQLException {
    return column(
        """
        SELECT resource || ' has ' || count(*) || ' holders'
          FROM {schema}.hold
         GROUP BY resource
        HAVING count(*) > %d
        """
            .formatted(most));
  }

  /** The first column of what a query finds. */
  List<String> column(String sql) throws SQLException {
    List<String> found = new ArrayList<>();
    try (Statement statement = sandbox.connection().createStatement();
        ResultSet rows = statement.executeQuery(sandbox.sql(sql))) {
      while (rows.next()) {
        found.add(rows.getString(1));
      }
    }
    return found;
  }
}
