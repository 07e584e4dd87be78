package dev.holdfast.bench.contender;

import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.ArrayBlockingQueue;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import javax.sql.DataSource;

/**
 * Claims 500 at a time on one connection and deletes them on another, both at once. Polls every 5
 * ms when there is nothing.
 */
final class RawWorker implements AutoCloseable {

  // The array keeps the planner from joining with the whole table.
  private static final String CLAIM =
      """
      UPDATE raw.job
         SET state = 'running'
       WHERE id = ANY (ARRAY (
         SELECT id
           FROM raw.job
          WHERE state = 'queued' AND run_at <= now()
          ORDER BY run_at, id
          LIMIT 500
            FOR UPDATE SKIP LOCKED))
      RETURNING id, payload
      """;

  private static final String DELETE =
      """
      DELETE FROM raw.job WHERE id = ANY (?)
      """;

  private static final Duration POLL = Duration.ofMillis(5);
  private static final int BATCHES_WAITING = 4;

  private final DataSource pool;
  private final Work work;
  private final BlockingQueue<List<Long>> ended = new ArrayBlockingQueue<>(BATCHES_WAITING);
  private final List<Thread> threads = new ArrayList<>();
  private volatile boolean closed;

  private RawWorker(DataSource pool, Work work) {
    this.pool = pool;
    this.work = work;
  }

  static RawWorker start(DataSource pool, Work work) {
    RawWorker worker = new RawWorker(pool, work);
    worker.threads.add(Thread.ofPlatform().name("raw-claim").start(worker::claimUntilClosed));
    worker.threads.add(Thread.ofPlatform().name("raw-delete").start(worker::deleteUntilClosed));
    return worker;
  }

  @Override
  public void close() throws InterruptedException {
    closed = true;
    for (Thread thread : threads) {
      thread.join();
    }
  }

  private void claimUntilClosed() {
    try (Connection connection = pool.getConnection();
        PreparedStatement claim = connection.prepareStatement(CLAIM)) {
      while (!closed) {
        List<Long> claimed = claimAndRun(claim);
        if (claimed.isEmpty()) {
          LockSupport.parkNanos(POLL.toNanos());
        } else {
          ended.put(claimed);
        }
      }
    } catch (SQLException | InterruptedException e) {
      throw new IllegalStateException("the raw worker cannot claim", e);
    }
  }

  private List<Long> claimAndRun(PreparedStatement claim) throws SQLException {
    long sentNanos = System.nanoTime();
    List<Long> ids = new ArrayList<>();
    List<Integer> numbers = new ArrayList<>();
    try (ResultSet rows = claim.executeQuery()) {
      while (rows.next()) {
        ids.add(rows.getLong(1));
        numbers.add(Integer.parseInt(rows.getString(2)));
      }
    }
    work.claimed(ids.size(), Duration.ofNanos(System.nanoTime() - sentNanos));
    numbers.forEach(work::run);
    return ids;
  }

  private void deleteUntilClosed() {
    try (Connection connection = pool.getConnection();
        PreparedStatement delete = connection.prepareStatement(DELETE)) {
      while (!closed || !ended.isEmpty() || threads.getFirst().isAlive()) {
        List<Long> batch = ended.poll(100, TimeUnit.MILLISECONDS);
        if (batch != null) {
          delete.setArray(1, connection.createArrayOf("bigint", batch.toArray()));
          delete.executeUpdate();
          work.finished(batch.size());
        }
      }
    } catch (SQLException | InterruptedException e) {
      throw new IllegalStateException("the raw worker cannot delete", e);
    }
  }
}
