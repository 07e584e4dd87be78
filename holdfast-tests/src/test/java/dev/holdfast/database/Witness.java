package dev.holdfast.database;

import dev.holdfast.Holdfast;
import dev.holdfast.job.JobState;
import dev.holdfast.lease.FinishReply;
import dev.holdfast.lease.Lease;
import dev.holdfast.worker.WorkerListener;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.util.Collection;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.UUID;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.atomic.AtomicInteger;
import javax.sql.DataSource;

/**
 * Remembers, outside of the database, what it said was done, and compares that with what is in it.
 * Thread-safe.
 */
final class Witness implements WorkerListener {

  /** One try at a job. */
  record Attempt(UUID job, long fence) {}

  /** What the database says of a job. */
  record Stored(String state, long fence) {}

  private static final String STATES =
      """
      SELECT id, state, fence FROM holdfast_default.job_all WHERE id = ANY (?)
      """;

  private final Set<UUID> enqueued = ConcurrentHashMap.newKeySet();
  private final Set<UUID> finished = ConcurrentHashMap.newKeySet();
  private final Set<UUID> seenFinished = ConcurrentHashMap.newKeySet();
  private final Map<UUID, Long> running = new ConcurrentHashMap<>();
  private final Map<String, Long> fences = new ConcurrentHashMap<>();
  private final Set<Attempt> effects = ConcurrentHashMap.newKeySet();
  private final ConcurrentLinkedQueue<String> violations = new ConcurrentLinkedQueue<>();
  private final AtomicInteger attempts = new AtomicInteger();
  private final AtomicInteger again = new AtomicInteger();
  private final AtomicInteger refused = new AtomicInteger();

  /** The database said that it has the job. */
  void enqueued(UUID id) {
    enqueued.add(id);
  }

  /** A handler begins. */
  void started(Attempt attempt, Collection<String> resources) {
    UUID job = attempt.job();
    attempts.incrementAndGet();
    if (growing("job " + job, attempt.fence())) {
      again.incrementAndGet();
    }
    resources.forEach(resource -> growing(resource, attempt.fence()));
    Long other = running.put(job, attempt.fence());
    if (other != null) {
      violated("job %s: fence %d runs beside fence %d".formatted(job, attempt.fence(), other));
    }
    if (finished.contains(job) || seenFinished.contains(job)) {
      violated("job %s was finished, and is granted again".formatted(job));
    }
  }

  /** Whether it was there before. */
  private boolean growing(String what, long fence) {
    Long earlier = fences.put(what, fence);
    if (earlier != null && earlier >= fence) {
      violated("%s: fence %d after %d".formatted(what, fence, earlier));
    }
    return earlier != null;
  }

  /** A handler does what it is there for, as the last thing before it is over. */
  void acted(Attempt attempt) {
    if (!effects.add(attempt)) {
      violated("%s has two effects".formatted(attempt));
    }
    Long latest = fences.get("job " + attempt.job());
    if (latest == null || latest != attempt.fence()) {
      violated("%s acts after fence %s was granted".formatted(attempt, latest));
    }
  }

  /** A handler is over, however it ended. */
  void ended(Attempt attempt) {
    running.remove(attempt.job(), attempt.fence());
  }

  @Override
  public void finished(Lease lease, FinishReply reply) {
    if (reply.equals(new FinishReply.Recorded(JobState.SUCCEEDED))) {
      succeeded(new Attempt(lease.key().jobId(), lease.key().fence()));
    } else {
      refused.incrementAndGet();
    }
  }

  /** The database has said so, maybe after it granted the job again. */
  void succeeded(Attempt attempt) {
    if (!finished.add(attempt.job())) {
      violated("job %s finished twice".formatted(attempt.job()));
    }
    Long latest = fences.get("job " + attempt.job());
    if (latest != null && latest > attempt.fence()) {
      violated("%s has finished its job, and fence %d is granted".formatted(attempt, latest));
    }
  }

  /** What was acknowledged until now is in the database, and no rule is broken there. */
  void compare(DataSource database, String when) throws SQLException {
    Set<UUID> ended = Set.copyOf(finished);
    Set<UUID> known = Set.copyOf(enqueued);
    Map<UUID, Stored> stored = stored(database, known);
    for (UUID id : known) {
      compare(id, Optional.ofNullable(stored.get(id)), ended.contains(id), when);
    }
    Holdfast.on(database).invariants().check().forEach(broken -> violated(when + ": " + broken));
  }

  /**
   * The same of one job.
   *
   * @param ended whether the database had said so before it was asked for this
   */
  void compare(UUID id, Optional<Stored> now, boolean ended, String when) {
    if (now.isEmpty()) {
      violated("%s: job %s was acknowledged, and is lost".formatted(when, id));
      return;
    }
    Stored stored = now.get();
    if (stored.state.equals("succeeded")) {
      seenFinished.add(id); // also where nobody was told, because the answer was lost
      if (!effects.contains(new Attempt(id, stored.fence))) {
        violated(
            "%s: job %s is finished under fence %d, which did nothing"
                .formatted(when, id, stored.fence));
      }
    } else if (ended || seenFinished.contains(id)) {
      violated("%s: job %s was finished, and is %s".formatted(when, id, stored.state));
    }
  }

  /** How many of the acknowledged jobs the database does not call finished. */
  long unfinished(DataSource database) throws SQLException {
    return stored(database, Set.copyOf(enqueued)).values().stream()
        .filter(stored -> !stored.state.equals("succeeded"))
        .count();
  }

  private static Map<UUID, Stored> stored(DataSource database, Set<UUID> ids) throws SQLException {
    Map<UUID, Stored> stored = new HashMap<>();
    try (Connection connection = database.getConnection();
        PreparedStatement query = connection.prepareStatement(STATES)) {
      query.setArray(1, connection.createArrayOf("uuid", ids.toArray()));
      try (ResultSet rows = query.executeQuery()) {
        while (rows.next()) {
          stored.put(
              rows.getObject("id", UUID.class),
              new Stored(rows.getString("state"), rows.getLong("fence")));
        }
      }
    }
    return stored;
  }

  void violated(String rule) {
    violations.add(rule);
  }

  List<String> violations() {
    return List.copyOf(violations);
  }

  int enqueued() {
    return enqueued.size();
  }

  int finished() {
    return finished.size();
  }

  /** Handlers that are at it now. */
  int underWay() {
    return running.size();
  }

  int attempts() {
    return attempts.get();
  }

  /** Attempts at jobs that an earlier attempt had begun. */
  int again() {
    return again.get();
  }

  /** Whether it came to do what it was there for, before it was over. */
  boolean hasActed(Attempt attempt) {
    return effects.contains(attempt);
  }

  /** Ends that were no longer wanted, because the lease was lost. */
  int refused() {
    return refused.get();
  }
}
