package dev.holdfast.queue;

import dev.holdfast.error.ErrorCode;
import dev.holdfast.error.HoldfastException;
import dev.holdfast.loop.Batcher;
import dev.holdfast.loop.Batcher.Turn;
import java.sql.Connection;
import java.sql.SQLException;
import java.util.List;

/**
 * Stores plain jobs: those of several threads together, with one statement and one commit. No job
 * fails because of another in the same batch; docs/decisions/0007 has the reasons. Thread-safe.
 */
final class PlainJobs {

  private static final int MOST_TOGETHER = 200;

  private final Enqueuer enqueuer;
  private final EnqueueTransactions transactions;
  private final Batcher<JobRow, Enqueued> batcher = new Batcher<>(MOST_TOGETHER);

  PlainJobs(Enqueuer enqueuer, EnqueueTransactions transactions) {
    this.enqueuer = enqueuer;
    this.transactions = transactions;
  }

  Enqueued store(JobRow row) {
    return batcher.ask(row, this::storeAll, () -> storeAgain(row));
  }

  // The jobs are taken only once a connection is there: those that arrive while it is waited for
  // join the batch.
  private List<Enqueued> storeAll(Turn<JobRow> turn) {
    return transactions.impatiently(connection -> {
      List<JobRow> rows = turn.take();
      if (rows.size() > 1) {
        EnqueueTransactions.inTransaction(connection, own -> storeInTime(own, rows, turn));
      } else if (!rows.isEmpty()) {
        enqueuer.enqueue(connection, rows.getFirst());
      }
      return rows.stream().map(row -> new Enqueued(row.id(), true)).toList();
    });
  }

  // The statement may arrive long after it was sent, when the network has recovered. Threads that
  // gave up waiting have stored their jobs themselves by then, and those may even be finished. So
  // the batch commits only after the database has answered, and only while the threads still wait.
  // From there on, a thread that stores one of these jobs by its id waits for this commit.
  private boolean storeInTime(Connection connection, List<JobRow> rows, Turn<JobRow> turn)
      throws SQLException {
    enqueuer.enqueuePlain(connection, rows);
    if (turn.isLate()) {
      throw new HoldfastException(ErrorCode.DATABASE, "the database took too long");
    }
    return true;
  }

  // Whatever failed, and whether or not the job was stored: its id ensures that it is stored once.
  private Enqueued storeAgain(JobRow row) {
    transactions.impatiently(connection ->
        EnqueueTransactions.inTransaction(connection, own -> enqueuer.enqueueAgain(own, row)));
    return new Enqueued(row.id(), true);
  }
}
