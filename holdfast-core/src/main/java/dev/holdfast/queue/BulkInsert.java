package dev.holdfast.queue;

import dev.holdfast.tenant.Db;
import java.sql.Connection;
import java.sql.SQLException;
import java.sql.Savepoint;
import java.time.OffsetDateTime;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.HashSet;
import java.util.Iterator;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.UUID;
import java.util.function.Function;
import java.util.stream.Collectors;
import org.jdbi.v3.core.Handle;
import org.jspecify.annotations.Nullable;

/**
 * Writes many new jobs, of which some may exist already. Their {@code seq} follows the order of the
 * list. They are inserted in the order of their keys, or two batches with the same keys could wait
 * for each other.
 */
final class BulkInsert {

  private static final String TURNS =
      """
      SELECT nextval(pg_get_serial_sequence('{schema}.job', 'seq')) AS seq,
             {schema}.clock() AS at
        FROM generate_series(1, :count)
      """;

  // All jobs of a batch have the time of their turns, however many statements it takes: jobs that
  // are due at the same time start in the order of their turns.
  private static final String INSERT =
      """
      INSERT INTO {schema}.job
             (id, seq, lane, state, run_at, created_at, args, policy, tags, unique_scope,
              unique_key, resources, target, subject_type, subject_id, subject_during)
             OVERRIDING SYSTEM VALUE
      SELECT id, seq, lane, state,
             coalesce(run_at::timestamptz,
                      :at::timestamptz + delay_ms * interval '1 millisecond'),
             :at::timestamptz, args::json, policy::json, tags::text[], unique_scope,
             unique_key, resources::text[], target, subject_type, subject_id, subject_during
        FROM unnest(:ids::uuid[], :seqs::bigint[], :lanes::bigint[], :states::text[],
                    :run_ats::text[], :delays_ms::bigint[], :args::text[], :policies::text[],
                    :tags::text[], :unique_scopes::text[], :unique_keys::text[],
                    :resources::text[], :targets::text[], :subject_types::text[],
                    :subject_ids::text[], :subject_durings::text[])
             WITH ORDINALITY
             AS new (id, seq, lane, state, run_at, delay_ms, args, policy, tags, unique_scope,
                     unique_key, resources, target, subject_type, subject_id, subject_during,
                     number)
       ORDER BY number
      ON CONFLICT DO NOTHING
      RETURNING id
      """;

  private static final String EXISTING =
      """
      SELECT asked.id AS asked, job.id
        FROM unnest(:ids::uuid[]) AS asked (id)
        JOIN {schema}.job ON job.id = asked.id
      UNION ALL
      SELECT asked.id, job.id
        FROM unnest(:ids::uuid[], :unique_scopes::text[], :unique_keys::text[])
             AS asked (id, unique_scope, unique_key)
        JOIN {schema}.job
          ON job.unique_scope = asked.unique_scope
         AND job.unique_key = asked.unique_key
         AND job.unique_key IS NOT NULL
      """;

  // A message to the server has at most 2^30 bytes, and a character of arguments up to six.
  private static final int MOST_CHARS = 1 << 24;
  private static final int CHARS_BESIDE_ARGUMENTS = 1_000;

  private final Lanes lanes;
  private final Enqueuer enqueuer;
  private final String turns;
  private final String insert;
  private final String existing;

  BulkInsert(Db db, Lanes lanes, Enqueuer enqueuer) {
    this.lanes = lanes;
    this.enqueuer = enqueuer;
    this.turns = db.sql(TURNS);
    this.insert = db.sql(INSERT);
    this.existing = db.sql(EXISTING);
  }

  private record Turn(JobRow row, long seq, OffsetDateTime at) {}

  /**
   * Must be called in a transaction.
   *
   * @return one result per row, in the order of the list
   */
  List<Enqueued> write(Connection connection, List<JobRow> rows) throws SQLException {
    try (Handle handle = Db.borrowed(connection)) {
      List<Turn> ordered = ordered(handle, rows);
      Set<UUID> finished = new HashSet<>();
      while (true) {
        Savepoint before = connection.setSavepoint();
        Optional<List<Enqueued>> answers = tryWrite(handle, ordered, rows, finished);
        if (answers.isPresent()) {
          connection.releaseSavepoint(before);
          return answers.get();
        }
        connection.rollback(before); // insert all again: added later, a row is out of order
        ordered.removeIf(turn -> finished.contains(turn.row.id())); // else it conflicts again
      }
    }
  }

  private List<Turn> ordered(Handle handle, List<JobRow> rows) {
    Iterator<JobRow> each = rows.iterator();
    List<Turn> ordered =
        handle
            .createQuery(turns)
            .bind("count", rows.size())
            .map((row, context) ->
                new Turn(
                    each.next(), row.getLong("seq"), row.getObject("at", OffsetDateTime.class)))
            .collect(Collectors.toCollection(ArrayList::new));
    ordered.sort(Comparator.comparing(Turn::row, JobRow.BY_KEY));
    return ordered;
  }

  // Empty when a conflicting job finished before it could be read, or when a row of this batch that
  // others conflicted with turned out to be finished already.
  private Optional<List<Enqueued>> tryWrite(
      Handle handle, List<Turn> ordered, List<JobRow> rows, Set<UUID> finished) {
    Set<UUID> created = insert(handle, ordered);
    finished.addAll(enqueuer.undoFinished(handle, created));
    created.removeAll(finished);
    List<JobRow> inTheWay =
        rows.stream()
            .filter(row -> !created.contains(row.id()) && !finished.contains(row.id()))
            .toList();
    Map<UUID, UUID> there = existing(handle, inTheWay, finished);
    List<Enqueued> answers = new ArrayList<>();
    for (JobRow row : rows) {
      UUID id = row.id();
      if (created.remove(id)) {
        answers.add(new Enqueued(id, true));
        there.put(id, id); // the list may name it a second time
      } else if (finished.contains(id)) {
        answers.add(new Enqueued(id, false));
      } else if (there.containsKey(id)) {
        answers.add(new Enqueued(there.get(id), false));
      } else {
        return Optional.empty();
      }
    }
    return Optional.of(answers);
  }

  private Set<UUID> insert(Handle handle, List<Turn> turns) {
    Set<UUID> created = new HashSet<>();
    for (List<Turn> some : slices(turns)) {
      created.addAll(insertAtOnce(handle, some));
    }
    return created;
  }

  private static List<List<Turn>> slices(List<Turn> turns) {
    List<List<Turn>> slices = new ArrayList<>();
    int from = 0;
    long chars = 0;
    for (int i = 0; i < turns.size(); i++) {
      int size = turns.get(i).row.args().length() + CHARS_BESIDE_ARGUMENTS;
      if (i > from && chars + size > MOST_CHARS) {
        slices.add(turns.subList(from, i));
        from = i;
        chars = 0;
      }
      chars += size;
    }
    if (from < turns.size()) {
      slices.add(turns.subList(from, turns.size()));
    }
    return slices;
  }

  private Set<UUID> insertAtOnce(Handle handle, List<Turn> turns) {
    List<JobRow> rows = turns.stream().map(Turn::row).toList();
    return handle
        .createQuery(insert)
        .bind("at", turns.getFirst().at)
        .bindArray("ids", UUID.class, rows.stream().map(JobRow::id).toList())
        .bindArray("seqs", Long.class, turns.stream().map(Turn::seq).toList())
        .bindArray("lanes", Long.class, rows.stream().map(row -> lanes.idOf(row.lane())).toList())
        .bindArray(
            "delays_ms", Long.class, rows.stream().map(row -> row.delay().toMillis()).toList())
        .bindArray("states", String.class, texts(rows, JobRow::state))
        .bindArray("run_ats", String.class, texts(rows, JobRow::runAt))
        .bindArray("args", String.class, texts(rows, JobRow::args))
        .bindArray("policies", String.class, texts(rows, JobRow::policy))
        .bindArray("tags", String.class, texts(rows, row -> PgArray.literal(row.tags())))
        .bindArray("unique_scopes", String.class, texts(rows, JobRow::uniqueScope))
        .bindArray("unique_keys", String.class, texts(rows, JobRow::uniqueKey))
        .bindArray("resources", String.class, texts(rows, row -> PgArray.literal(row.resources())))
        .bindArray("targets", String.class, texts(rows, JobRow::target))
        .bindArray("subject_types", String.class, texts(rows, JobRow::subjectType))
        .bindArray("subject_ids", String.class, texts(rows, JobRow::subjectId))
        .bindArray("subject_durings", String.class, texts(rows, JobRow::subjectDuring))
        .mapTo(UUID.class)
        .collect(Collectors.toCollection(HashSet::new));
  }

  private Map<UUID, UUID> existing(Handle handle, List<JobRow> rows, Set<UUID> finished) {
    if (rows.isEmpty()) {
      return new HashMap<>();
    }
    Map<UUID, UUID> there =
        handle
            .createQuery(existing)
            .bindArray("ids", UUID.class, rows.stream().map(JobRow::id).toList())
            .bindArray("unique_scopes", String.class, texts(rows, JobRow::uniqueScope))
            .bindArray("unique_keys", String.class, texts(rows, JobRow::uniqueKey))
            .reduceRows(
                new HashMap<>(),
                (found, row) -> {
                  found.putIfAbsent(
                      row.getColumn("asked", UUID.class), row.getColumn("id", UUID.class));
                  return found;
                });
    // A finished job with the same id is the one that is meant, even if another job has its unique
    // key by now.
    Set<UUID> notThemselves =
        rows.stream()
            .map(JobRow::id)
            .filter(id -> !id.equals(there.get(id)))
            .collect(Collectors.toSet());
    if (!notThemselves.isEmpty()) {
      finished.addAll(enqueuer.finished(handle, notThemselves));
    }
    return there;
  }

  private static List<@Nullable String> texts(
      List<JobRow> rows, Function<JobRow, @Nullable Object> column) {
    List<@Nullable String> texts = new ArrayList<>();
    for (JobRow row : rows) {
      Object value = column.apply(row);
      texts.add(value == null ? null : value.toString());
    }
    return texts;
  }
}
