package dev.holdfast.database;

import dev.holdfast.Holdfast;
import dev.holdfast.job.JobState;
import dev.holdfast.lease.FinishReply;
import dev.holdfast.lease.Lease;
import dev.holdfast.worker.JobContext;
import dev.holdfast.worker.WorkerListener;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.util.Collection;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
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

  private static final String STATES =
      """
      SELECT id, state FROM holdfast_default.job_all WHERE id = ANY (?)
      """;

  private final Set<UUID> enqueued = ConcurrentHashMap.newKeySet();
  private final Set<UUID> finished = ConcurrentHashMap.newKeySet();
  private final Map<UUID, Long> running = new ConcurrentHashMap<>();
  private final Map<String, Long> fences = new ConcurrentHashMap<>();
  private final ConcurrentLinkedQueue<String> violations = new ConcurrentLinkedQueue<>();
  private final AtomicInteger attempts = new AtomicInteger();
  private final AtomicInteger refused = new AtomicInteger();

  /** The database said that it has the job. */
  void enqueued(UUID id) {
    enqueued.add(id);
  }

  /** A handler begins. */
  void started(JobContext job, Collection<String> resources) {
    started(job.jobId(), job.fence(), resources);
  }

  void started(UUID id, long fence, Collection<String> resources) {
    attempts.incrementAndGet();
    growing(nameOf(id), fence);
    resources.forEach(resource -> growing(resource, fence));
    Long other = running.put(id, fence);
    if (other != null) {
      violated("job %s: fence %d runs beside fence %d".formatted(id, fence, other));
    }
    if (finished.contains(id)) {
      violated("job %s was finished, and is granted again".formatted(id));
    }
  }

  private static String nameOf(UUID id) {
    return "job " + id;
  }

  private void growing(String what, long fence) {
    Long earlier = fences.put(what, fence);
    if (earlier != null && earlier >= fence) {
      violated("%s: fence %d after %d".formatted(what, fence, earlier));
    }
  }

  /** A handler is over, however it ended. */
  void ended(JobContext job) {
    ended(job.jobId(), job.fence());
  }

  void ended(UUID id, long fence) {
    running.remove(id, fence);
  }

  @Override
  public void finished(Lease lease, FinishReply reply) {
    if (reply.equals(new FinishReply.Recorded(JobState.SUCCEEDED))) {
      succeeded(lease.key().jobId(), lease.key().fence());
    } else {
      refused.incrementAndGet();
    }
  }

  /** The database said so. Whoever was granted the job again may have begun before we hear it. */
  void succeeded(UUID id, long fence) {
    if (!finished.add(id)) {
      violated("job %s finished twice".formatted(id));
    }
    Long last = fences.get(nameOf(id));
    if (last != null && last > fence) {
      violated("job %s was finished under %d, and is granted under %d".formatted(id, fence, last));
    }
  }

  /** What was acknowledged until now is in the database, and no rule is broken there. */
  void compare(DataSource database, String when) throws SQLException {
    Set<UUID> ended = Set.copyOf(finished);
    Set<UUID> known = Set.copyOf(enqueued);
    Map<UUID, String> states = states(database, known);
    for (UUID id : known) {
      String state = states.get(id);
      if (state == null) {
        violated("%s: job %s was acknowledged, and is lost".formatted(when, id));
      } else if (ended.contains(id) && !state.equals("succeeded")) {
        violated("%s: job %s was finished, and is %s".formatted(when, id, state));
      }
    }
    Holdfast.on(database).invariants().check().forEach(broken -> violated(when + ": " + broken));
  }

  /** How many of the acknowledged jobs the database does not call finished. */
  long unfinished(DataSource database) throws SQLException {
    return states(database, Set.copyOf(enqueued)).values().stream()
        .filter(state -> !state.equals("succeeded"))
        .count();
  }

  private static Map<UUID, String> states(DataSource database, Set<UUID> ids) throws SQLException {
    Map<UUID, String> states = new HashMap<>();
    try (Connection connection = database.getConnection();
        PreparedStatement query = connection.prepareStatement(STATES)) {
      query.setArray(1, connection.createArrayOf("uuid", ids.toArray()));
      try (ResultSet rows = query.executeQuery()) {
        while (rows.next()) {
          states.put(rows.getObject("id", UUID.class), rows.getString("state"));
        }
      }
    }
    return states;
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

  int attempts() {
    return attempts.get();
  }

  /** Ends that were no longer wanted, because the lease was lost. */
  int refused() {
    return refused.get();
  }
}
