package dev.holdfast.chaos;

import dev.holdfast.Holdfast;
import dev.holdfast.api.HoldfastClient;
import dev.holdfast.error.HoldfastException;
import dev.holdfast.job.JobIds;
import dev.holdfast.job.JobState;
import dev.holdfast.job.NewJob;
import dev.holdfast.job.Outcome;
import dev.holdfast.job.PolicyOverrides;
import dev.holdfast.lease.ClaimRequest;
import dev.holdfast.lease.Finish;
import dev.holdfast.lease.FinishReply;
import dev.holdfast.lease.Lease;
import dev.holdfast.server.postgres.TestPrograms;
import java.io.IOException;
import java.nio.file.Path;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Queue;
import java.util.Set;
import java.util.UUID;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.Semaphore;
import java.util.concurrent.atomic.AtomicBoolean;

/**
 * Cuts the power of a server and its database in the midst of their work, again and again, and
 * compares what is there afterwards with what they had said was done. What was said is kept here,
 * outside of them. Thread-safe where producers and workers write.
 */
final class PowerRun {

  private static final Duration LEASE = Duration.ofSeconds(5);
  private static final int PRODUCERS = 4;
  private static final int WORKERS = 2;
  private static final int CLAIMED_AT_ONCE = 20;

  private static final String STATES =
      """
      SELECT id, state FROM holdfast_default.job_all WHERE id = ANY (?)
      """;

  /**
   * What a round has reached.
   *
   * @param finished jobs whose end was acknowledged in it
   * @param cutOff jobs that somebody had when the power was cut
   */
  record Round(int finished, int cutOff) {}

  private final Path data;
  private final Path directory;
  private final Set<UUID> enqueued = ConcurrentHashMap.newKeySet();
  private final Set<UUID> finished = ConcurrentHashMap.newKeySet();
  private final Map<UUID, Long> fences = new ConcurrentHashMap<>();
  private final ConcurrentLinkedQueue<String> violations = new ConcurrentLinkedQueue<>();
  private final Set<UUID> cutOff = ConcurrentHashMap.newKeySet(); // and not granted since
  private final Set<UUID> grantedAgain = ConcurrentHashMap.newKeySet();
  private final List<Round> rounds = new ArrayList<>();
  private final List<Duration> starts = new ArrayList<>();

  PowerRun(Path directory) throws IOException {
    this.directory = directory;
    this.data = TestPrograms.in(directory.resolve("data"));
  }

  /** A start, work until so much was acknowledged, and the cut. */
  void round(int number, int jobs) throws Exception {
    PowerNode node = start(number);
    verify(node, "after cut " + number);
    int finishedBefore = finished.size();
    Queue<UUID> heldAtTheEnd = new ConcurrentLinkedQueue<>();
    Semaphore acknowledged = new Semaphore(0);
    AtomicBoolean over = new AtomicBoolean();
    List<Thread> threads = new ArrayList<>();
    HoldfastClient client = client(node);
    for (int i = 0; i < PRODUCERS; i++) {
      threads.add(Thread.startVirtualThread(() -> produce(client, over, acknowledged)));
    }
    for (int i = 0; i < WORKERS; i++) {
      String name = "worker-%d-%d".formatted(number, i);
      threads.add(Thread.startVirtualThread(() -> heldAtTheEnd.addAll(work(client, name, over))));
    }
    acknowledged.acquire(jobs);
    node.cutPower(); // while they are all at it
    over.set(true);
    for (Thread thread : threads) {
      thread.join();
    }
    cutOff.addAll(heldAtTheEnd);
    rounds.add(new Round(finished.size() - finishedBefore, heldAtTheEnd.size()));
  }

  /** Lets everything come to its end, and compares for the last time. */
  void drain() throws Exception {
    PowerNode node = start(-1);
    verify(node, "at the end");
    HoldfastClient client = client(node);
    // By the database's word: an end whose acknowledgement was cut off is one, too.
    while (!Set.of("succeeded").containsAll(states(node).values())) {
      finish(client, claim(client, "drains"));
      Thread.sleep(50); // until the leases of those who were cut off are over
    }
    verify(node, "after the last job");
    node.end();
  }

  private PowerNode start(int number) throws Exception {
    long began = System.nanoTime();
    PowerNode node = PowerNode.start(data, directory.resolve("node-" + number + ".log"));
    starts.add(Duration.ofNanos(System.nanoTime() - began));
    return node;
  }

  private static HoldfastClient client(PowerNode node) throws Exception {
    return HoldfastClient.at(node.address())
        .withToken(node.token())
        .withTimeout(Duration.ofSeconds(5));
  }

  private void produce(HoldfastClient client, AtomicBoolean over, Semaphore acknowledged) {
    while (!over.get()) {
      UUID id = JobIds.next();
      try {
        client.enqueue(
            NewJob.of("power", Map.of("id", id.toString()))
                .withId(id)
                .withPolicy(PolicyOverrides.NONE.withLeaseLength(LEASE).withMaxAttempts(1_000)));
        enqueued.add(id);
        acknowledged.release();
      } catch (HoldfastException e) {
        // Not acknowledged: it may be there, or not.
      }
    }
  }

  // Ends what it has only when it has been given more, so that there is something to be cut off
  // whenever the power is cut.
  private List<UUID> work(HoldfastClient client, String worker, AtomicBoolean over) {
    List<Lease> held = List.of();
    while (!over.get()) {
      List<Lease> more = claim(client, worker);
      if (!more.isEmpty()) {
        finish(client, held);
        held = more;
      }
    }
    return held.stream().map(lease -> lease.key().jobId()).toList();
  }

  private List<Lease> claim(HoldfastClient client, String worker) {
    try {
      List<Lease> leases =
          client
              .leases()
              .claim(ClaimRequest.of(worker, Set.of("default"), CLAIMED_AT_ONCE))
              .leases();
      leases.forEach(this::granted);
      return leases;
    } catch (HoldfastException e) {
      return List.of(); // cut off: what was granted and not told runs out
    }
  }

  private void finish(HoldfastClient client, List<Lease> leases) {
    try {
      List<FinishReply> replies =
          client
              .leases()
              .finish(
                  leases.stream().map(lease -> new Finish(lease, Outcome.succeeded())).toList());
      for (int i = 0; i < leases.size(); i++) {
        if (replies.get(i).equals(new FinishReply.Recorded(JobState.SUCCEEDED))) {
          finished(leases.get(i).key().jobId());
        }
      }
    } catch (HoldfastException e) {
      // Cut off: leases that nobody reports on run out.
    }
  }

  private void granted(Lease lease) {
    UUID id = lease.key().jobId();
    long fence = lease.key().fence();
    Long earlier = fences.put(id, fence);
    if (earlier != null && earlier >= fence) {
      violations.add("job %s: fence %d after %d".formatted(id, fence, earlier));
    }
    if (cutOff.remove(id)) {
      grantedAgain.add(id);
    }
    if (finished.contains(id)) {
      violations.add("job %s was finished, and is granted again".formatted(id));
    }
  }

  private void finished(UUID id) {
    if (!finished.add(id)) {
      violations.add("job %s finished twice".formatted(id));
    }
  }

  private void verify(PowerNode node, String when) throws SQLException {
    Map<UUID, String> states = states(node);
    for (UUID id : enqueued) {
      String state = states.get(id);
      if (state == null) {
        violations.add("%s: job %s was acknowledged, and is lost".formatted(when, id));
      } else if (finished.contains(id) && !state.equals("succeeded")) {
        violations.add("%s: job %s was finished, and is %s".formatted(when, id, state));
      }
    }
    if (!enqueued.isEmpty()) {
      Holdfast.on(node.database())
          .invariants()
          .check()
          .forEach(violation -> violations.add(when + ": " + violation));
    }
  }

  private Map<UUID, String> states(PowerNode node) throws SQLException {
    Map<UUID, String> states = new HashMap<>();
    try (Connection connection = node.database().getConnection();
        PreparedStatement query = connection.prepareStatement(STATES)) {
      query.setArray(1, connection.createArrayOf("uuid", enqueued.toArray()));
      try (ResultSet rows = query.executeQuery()) {
        while (rows.next()) {
          states.put(rows.getObject("id", UUID.class), rows.getString("state"));
        }
      }
    }
    return states;
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

  List<Round> rounds() {
    return List.copyOf(rounds);
  }

  /** Jobs that were cut off, and then given to somebody else. */
  int grantedAgain() {
    return grantedAgain.size();
  }

  List<Duration> starts() {
    return List.copyOf(starts);
  }
}
