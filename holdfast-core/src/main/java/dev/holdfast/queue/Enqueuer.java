package dev.holdfast.queue;

import dev.holdfast.tenant.Db;
import java.util.Optional;
import java.util.OptionalInt;
import java.util.UUID;
import org.jdbi.v3.core.Handle;
import org.jdbi.v3.core.statement.Update;

/** Writes one new job on a given connection. */
final class Enqueuer {

  // The lane is looked up by what it is, in the same statement: nothing is remembered here that
  // another process could have made stale. No lane, or a conflict, inserts nothing.
  private static final String INSERT =
      """
      INSERT INTO {schema}.job
             (id, lane, state, run_at, created_at, args, policy, tags, unique_scope, unique_key)
      SELECT :id, found.lane, :state,
             coalesce(:run_at, {schema}.clock() + :delay_ms * interval '1 millisecond'),
             {schema}.clock(), :args::json, :policy::json, :tags, :unique_scope, :unique_key
        FROM (SELECT coalesce(:lane, (
               SELECT lane.id
                 FROM {schema}.lane
                WHERE queue = :queue AND kind = :kind AND priority = :priority
                  AND host = :host AND host_required = :host_required AND labels = :labels
             ))) AS found (lane)
       WHERE found.lane IS NOT NULL
      ON CONFLICT DO NOTHING
      """;

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
      SELECT EXISTS (SELECT FROM {schema}.job_done WHERE id = :id)
      """;

  private static final String UNDO =
      """
      DELETE FROM {schema}.job WHERE id = :id AND fence = 0
      """;

  private final Lanes lanes;
  private final String insert;
  private final String existing;
  private final String finished;
  private final String undo;

  Enqueuer(Db db, Lanes lanes) {
    this.lanes = lanes;
    this.insert = db.sql(INSERT);
    this.existing = db.sql(EXISTING);
    this.finished = db.sql(FINISHED);
    this.undo = db.sql(UNDO);
  }

  /**
   * @param knownId the caller chose the id, so it may have been enqueued before, even long ago
   */
  Enqueued enqueue(Handle handle, JobRow row, boolean knownId) {
    if (insert(handle, row, OptionalInt.empty())) {
      return knownId ? unlessFinished(handle, row) : new Enqueued(row.id(), true);
    }
    // Rare from here on: the job is there already, or it is the first of its lane.
    while (true) {
      Optional<UUID> there = existing(handle, row);
      if (there.isPresent()) {
        return new Enqueued(there.get(), false);
      }
      if (insert(handle, row, OptionalInt.of(lanes.idOf(row.lane())))) {
        return unlessFinished(handle, row);
      }
      // The job that was in the way finished between the two statements: look again.
    }
  }

  // An id's memory is as long as the history. The look comes after the insert, which has waited for
  // any transaction that was moving the same id between the tables.
  private Enqueued unlessFinished(Handle handle, JobRow row) {
    boolean isFinished =
        handle.createQuery(finished).bind("id", row.id()).mapTo(Boolean.class).one();
    if (isFinished) {
      handle.createUpdate(undo).bind("id", row.id()).execute();
    }
    return new Enqueued(row.id(), !isFinished);
  }

  private boolean insert(Handle handle, JobRow row, OptionalInt lane) {
    Update update = handle.createUpdate(insert);
    update.bind("lane", lane.stream().boxed().findFirst().orElse(null));
    row.bindTo(update);
    return update.execute() == 1;
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
