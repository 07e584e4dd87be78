package dev.holdfast.queue;

import dev.holdfast.tenant.Db;
import java.sql.Connection;
import java.sql.SQLException;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.UUID;
import org.jdbi.v3.core.Handle;

/** Writes new jobs on a given connection. */
final class Enqueuer {

  private static final String EXISTING =
      """
      SELECT id FROM {schema}.job WHERE id = :id
      UNION ALL
      SELECT id FROM {schema}.job
       WHERE unique_scope = :unique_scope AND unique_key = :unique_key AND unique_key IS NOT NULL
      LIMIT 1
      """;

  private static final String FINISHED =
      """
      SELECT id FROM {schema}.job_done WHERE id = ANY (:ids)
      """;

  private static final String UNDO =
      """
      DELETE FROM {schema}.job WHERE id = ANY (:ids) AND fence = 0
      """;

  private final JobInsert jobInsert;
  private final Lanes lanes;
  private final String existing;
  private final String finished;
  private final String undo;

  Enqueuer(Db db, Lanes lanes) {
    this.jobInsert = new JobInsert(db);
    this.lanes = lanes;
    this.existing = db.sql(EXISTING);
    this.finished = db.sql(FINISHED);
    this.undo = db.sql(UNDO);
  }

  /**
   * Stores the job.
   *
   * @param connection in a transaction if the job may exist already: a repeated job is inserted and
   *     deleted again, and no other transaction may see it in between
   */
  Enqueued enqueue(Connection connection, JobRow row) throws SQLException {
    long lane = lanes.idOf(row.lane());
    if (!row.mayExist()) {
      jobInsert.insert(connection, row, lane);
      return new Enqueued(row.id(), true);
    }
    return enqueueUnlessThere(connection, row, lane);
  }

  /** Stores a job that may have been stored a moment ago: the answer to that was lost. */
  Enqueued enqueueAgain(Connection connection, JobRow row) throws SQLException {
    return enqueueUnlessThere(connection, row, lanes.idOf(row.lane()));
  }

  /** Stores plain jobs in a transaction, all or none. */
  void enqueuePlain(Connection connection, List<JobRow> rows) throws SQLException {
    jobInsert.insertPlain(
        connection, rows, rows.stream().mapToLong(row -> lanes.idOf(row.lane())).toArray());
  }

  private Enqueued enqueueUnlessThere(Connection connection, JobRow row, long lane)
      throws SQLException {
    try (Handle handle = Db.borrowed(connection)) {
      while (true) {
        if (jobInsert.insertIfAbsent(connection, row, lane)) {
          Set<UUID> finished = undoFinished(handle, Set.of(row.id()));
          return new Enqueued(row.id(), finished.isEmpty());
        }
        Optional<UUID> there = existing(handle, row);
        // A finished job with the same id is the one that is meant, even if another job has its
        // unique key by now.
        if (there.filter(row.id()::equals).isEmpty()
            && !finished(handle, Set.of(row.id())).isEmpty()) {
          return new Enqueued(row.id(), false);
        }
        if (there.isPresent()) {
          return new Enqueued(there.get(), false);
        }
        // The conflicting job finished between the two statements: try again.
      }
    }
  }

  /**
   * Deletes those of the jobs just stored that are finished already: an id is known for as long as
   * the history keeps it. Runs after the insert, because that has waited for any transaction that
   * was moving the same id between the tables.
   *
   * @return the ids of the finished jobs
   */
  Set<UUID> undoFinished(Handle handle, Set<UUID> stored) {
    Set<UUID> done = finished(handle, stored);
    if (!done.isEmpty()) {
      handle.createUpdate(undo).bindArray("ids", UUID.class, done).execute();
    }
    return done;
  }

  /** Which of these are in the history. */
  Set<UUID> finished(Handle handle, Set<UUID> ids) {
    return handle
        .createQuery(finished)
        .bindArray("ids", UUID.class, ids)
        .mapTo(UUID.class)
        .collectIntoSet();
  }

  private Optional<UUID> existing(Handle handle, JobRow row) {
    return handle
        .createQuery(existing)
        .bind("id", row.id())
        .bind("unique_scope", row.uniqueScope())
        .bind("unique_key", row.uniqueKey())
        .mapTo(UUID.class)
        .findOne();
  }
}
