package dev.holdfast.lease;

import dev.holdfast.tenant.Db;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import org.jdbi.v3.core.Handle;
import org.jdbi.v3.core.statement.Query;

/** Recognises ends that an earlier call recorded already. */
final class Repeats {

  // An end reported twice: the answer to the first got lost, or another tenant's part of the batch
  // failed. Only the same end counts, not what the reaper recorded for a worker that was silent or
  // took too long.
  private static final String ALREADY_RECORDED =
      """
      SELECT ended.job_id AS id, ended.fence
        FROM unnest((SELECT :job_ids), (SELECT :fences), (SELECT :outcomes),
                    (SELECT :error_codes))
          AS ended (job_id, fence, outcome, error_code)
       WHERE EXISTS (SELECT FROM {schema}.job_done AS done
                      WHERE done.id = ended.job_id AND done.fence = ended.fence
                        AND done.attempt_outcome = ended.outcome
                        AND done.error_code IS NOT DISTINCT FROM ended.error_code)
          OR EXISTS (SELECT FROM {schema}.attempt
                      WHERE attempt.job_id = ended.job_id AND attempt.fence = ended.fence
                        AND attempt.outcome = ended.outcome
                        AND attempt.error_code IS NOT DISTINCT FROM ended.error_code)
      """;

  private final String alreadyRecorded;

  Repeats(Db db) {
    this.alreadyRecorded = db.sql(ALREADY_RECORDED);
  }

  /** The same answers, except that what is recorded already is recorded. */
  List<FinishReply> recognise(Handle handle, List<Ended> ended, List<FinishReply> replies) {
    Query query = handle.createQuery(alreadyRecorded);
    Ended.bindKeys(query, ended);
    Ended.bind(query, "outcomes", String.class, ended, end -> end.transition().attemptOutcome());
    Ended.bind(query, "error_codes", String.class, ended, Ended::errorCode);
    Set<LeaseKey> recorded = new HashSet<>(Ended.keys(query, ended));
    List<FinishReply> answers = new ArrayList<>(replies);
    for (int i = 0; i < ended.size(); i++) {
      if (recorded.contains(ended.get(i).key())) {
        answers.set(i, new FinishReply.Recorded(ended.get(i).transition().to()));
      }
    }
    return answers;
  }
}
