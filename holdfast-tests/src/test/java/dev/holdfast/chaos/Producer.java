package dev.holdfast.chaos;

import dev.holdfast.Holdfast;
import dev.holdfast.chaos.load.Workload;
import dev.holdfast.chaos.load.Workload.Made;
import dev.holdfast.chaos.verdict.Acknowledged;
import dev.holdfast.error.HoldfastException;
import dev.holdfast.queue.Enqueued;
import dev.holdfast.tenant.Db;
import dev.holdfast.tenant.TenantName;
import java.io.IOException;
import java.io.Writer;
import java.nio.file.Files;
import java.nio.file.Path;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.stream.IntStream;
import javax.sql.DataSource;

/**
 * Enqueues as fast as jobs are done, and keeps the list of those that Holdfast said it has. Each
 * batch is stored in one transaction with its number, by which a batch is found whose commit nobody
 * answered. One thread produces; others may ask for the count.
 */
final class Producer {

  private static final int BATCH = 200;
  // So that there is work beside what waits for a frozen worker.
  private static final int MOST_READY = 1_000;
  // A resource of the dead is free after lease and kill grace: with all that is killed, those who
  // wait for one would soon be all there are.
  private static final int MOST_PARKED = 1_000;
  private static final Duration SOON = Duration.ofMillis(100);

  private static final String BATCHES = "CREATE TABLE chaos_batch (number bigint PRIMARY KEY)";
  private static final String STORE = "INSERT INTO chaos_batch (number) VALUES (?)";
  private static final String FIND = "SELECT FROM chaos_batch WHERE number = ?";

  private static final String BACKLOG =
      """
      SELECT count(*) - count(waiting_on) AS ready, count(waiting_on) AS parked
        FROM {schema}.job
      """;

  /** Jobs that are not over: those that wait for a resource, and all others. */
  private record Backlog(long ready, long parked) {}

  /** A batch, and under which ids it is stored if it is. */
  private record Batch(long number, List<Made> made, List<Enqueued> stored) {}

  private final Holdfast holdfast;
  private final DataSource pool;
  private final Db db;
  private final Workload workload;
  private final Writer log;
  private final List<Acknowledged> acknowledged = new ArrayList<>();
  private Optional<Batch> unanswered = Optional.empty();
  private long batches;
  private volatile int count;
  private volatile boolean stopped;

  Producer(Holdfast holdfast, DataSource pool, Workload workload, Path file)
      throws IOException, SQLException {
    this.holdfast = holdfast;
    this.pool = pool;
    this.db = holdfast.tenants().open(TenantName.DEFAULT).db();
    this.workload = workload;
    this.log = Files.newBufferedWriter(file);
    try (Connection connection = pool.getConnection();
        Statement statement = connection.createStatement()) {
      statement.execute(BATCHES);
    }
  }

  Duration produce() throws IOException {
    try {
      if (unanswered.isPresent()) {
        find(unanswered.get());
      }
      Backlog backlog = backlog();
      if (!stopped && backlog.ready < MOST_READY) {
        enqueue(backlog.parked >= MOST_PARKED);
      }
    } catch (SQLException | HoldfastException e) {
      // The database is away, or was just then.
    }
    return SOON;
  }

  private void enqueue(boolean isCongested) throws SQLException, IOException {
    List<Made> made = IntStream.range(0, BATCH).mapToObj(i -> workload.next(isCongested)).toList();
    long number = ++batches;
    try (Connection connection = pool.getConnection()) {
      connection.setAutoCommit(false);
      try (PreparedStatement statement = connection.prepareStatement(STORE)) {
        statement.setLong(1, number);
        statement.execute();
      }
      Batch batch =
          new Batch(
              number,
              made,
              holdfast.jobs().enqueueAll(connection, made.stream().map(Made::job).toList()));
      unanswered = Optional.of(batch);
      connection.commit();
      acknowledge(batch);
    }
  }

  private void find(Batch batch) throws SQLException, IOException {
    try (Connection connection = pool.getConnection();
        PreparedStatement statement = connection.prepareStatement(FIND)) {
      statement.setLong(1, batch.number);
      try (ResultSet row = statement.executeQuery()) {
        if (row.next()) {
          acknowledge(batch);
        }
      }
    }
    unanswered = Optional.empty();
  }

  private void acknowledge(Batch batch) throws IOException {
    for (int i = 0; i < batch.made.size(); i++) {
      String id = batch.stored.get(i).id().toString();
      Acknowledged job = batch.made.get(i).acknowledged(id, acknowledged.size());
      acknowledged.add(job);
      log.write(job.line() + "\n");
    }
    log.flush();
    unanswered = Optional.empty();
    count = acknowledged.size();
  }

  private Backlog backlog() {
    return db.withHandle(handle ->
        handle
            .createQuery(db.sql(BACKLOG))
            .map((row, context) -> new Backlog(row.getLong("ready"), row.getLong("parked")))
            .one());
  }

  /** No more after those that are being enqueued. */
  void stop() {
    stopped = true;
  }

  int count() {
    return count;
  }

  /** When nobody produces any more. */
  List<Acknowledged> acknowledged() {
    return acknowledged;
  }
}
