package dev.holdfast.subject;

import dev.holdfast.job.Limits;
import dev.holdfast.job.Subject;
import dev.holdfast.tenant.Columns;
import dev.holdfast.tenant.Db;
import dev.holdfast.tenant.Tenant;
import java.util.Comparator;
import java.util.List;
import java.util.Optional;
import java.util.UUID;
import org.jdbi.v3.core.Handle;

/** The states of subjects. They move with their jobs, in the same transactions. */
public final class Subjects {

  private static final String MOVE =
      """
      INSERT INTO {schema}.subject (type, id, state, job_id, updated_at)
      VALUES (:type, :id, :state, :job_id, {schema}.clock())
      ON CONFLICT (type, id) DO UPDATE
         SET state = excluded.state, job_id = excluded.job_id, updated_at = excluded.updated_at
      """;

  private static final String MOVE_OWN =
      """
      UPDATE {schema}.subject
         SET state = :state, updated_at = {schema}.clock()
       WHERE type = :type AND id = :id AND job_id = :job_id
      """;

  private static final String GET =
      """
      SELECT state, job_id, updated_at FROM {schema}.subject WHERE type = :type AND id = :id
      """;

  // Subjects are locked after all jobs and in this order, or two batches could wait for each other.
  private static final Comparator<Move> ORDER =
      Comparator.comparing((Move move) -> move.subject().type())
          .thenComparing(move -> move.subject().id());

  /**
   * The move of a subject to a state because of a job.
   *
   * @param onlyOwn whether it moves only if this job was the last to move it
   */
  public record Move(Subject subject, String state, UUID jobId, boolean onlyOwn) {

    /** Empty when the job leaves its subject alone. */
    public static Optional<Move> of(Optional<Subject> subject, String state, UUID jobId) {
      return of(subject, state, jobId, false);
    }

    private static Optional<Move> of(
        Optional<Subject> subject, String state, UUID jobId, boolean onlyOwn) {
      return subject
          .filter(moved -> moved.during().isPresent())
          .map(moved -> new Move(moved, state, jobId, onlyOwn));
    }

    /** The move when the job begins to run. */
    public static Optional<Move> started(Optional<Subject> subject, UUID jobId) {
      return subject.flatMap(Subject::during).flatMap(state -> of(subject, state, jobId));
    }

    /**
     * The move when the job ends and no worker said that it worked: what an attempt began is not
     * undone. The subject itself tells whether one began, because its start moved it. A job that
     * was dispatched and never started leaves it as it is.
     */
    public static Optional<Move> abandoned(Optional<Subject> subject, UUID jobId) {
      return of(subject, Subject.FAILED, jobId, true);
    }
  }

  private final Db db;
  private final String move;
  private final String moveOwn;
  private final String get;

  public Subjects(Tenant tenant) {
    this(tenant.db());
  }

  public Subjects(Db db) {
    this.db = db;
    this.move = db.sql(MOVE);
    this.moveOwn = db.sql(MOVE_OWN);
    this.get = db.sql(GET);
  }

  public void move(Handle handle, List<Move> moves) {
    moves.stream()
        .sorted(ORDER)
        .forEach(each ->
            handle
                .createUpdate(each.onlyOwn ? moveOwn : move)
                .bind("type", each.subject.type())
                .bind("id", each.subject.id())
                .bind("state", each.state)
                .bind("job_id", each.jobId)
                .execute());
  }

  /** The state of a subject; empty when no job ever moved it. */
  public Optional<SubjectState> get(String type, String id) {
    Limits.name("subject.type", type);
    Limits.name("subject.id", id);
    return db.withHandle(handle ->
        handle
            .createQuery(get)
            .bind("type", type)
            .bind("id", id)
            .map((row, context) ->
                new SubjectState(
                    type,
                    id,
                    row.getString("state"),
                    row.getObject("job_id", UUID.class),
                    Columns.instant(row, "updated_at")))
            .findOne());
  }
}
