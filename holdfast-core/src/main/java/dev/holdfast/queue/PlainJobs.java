package dev.holdfast.queue;

import dev.holdfast.error.ErrorCode;
import dev.holdfast.error.HoldfastException;
import dev.holdfast.loop.Batcher;
import dev.holdfast.loop.Batcher.Turn;
import java.sql.Connection;
import java.sql.SQLException;
import java.util.List;

/**
 * Stores plain jobs: those of several threads together, with one statement and one commit. Nobody
 * suffers from those that it travelled with; docs/decisions/0007 has the reasons. Thread-safe.
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

  // With a connection at hand: who comes while we wait for one comes along.
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

  // What is sent may arrive long after, when the network has recovered. Those who gave up on us
  // have stored their jobs themselves by then, and these may even be done. So what we sent counts
  // only if we say so, once it has arrived, and while they still wait. From there on whoever stores
  // one of these by its id waits for our commit.
  private boolean storeInTime(Connection connection, List<JobRow> rows, Turn<JobRow> turn)
      throws SQLException {
    enqueuer.enqueuePlain(connection, rows);
    if (turn.isLate()) {
      throw new HoldfastException(ErrorCode.DATABASE, "the database took too long");
    }
    return true;
  }

  // Whatever it was, and whether or not it was stored: by its id, it is stored once.
  private Enqueued storeAgain(JobRow row) {
    transactions.impatiently(connection ->
        EnqueueTransactions.inTransaction(connection, own -> enqueuer.enqueueAgain(own, row)));
    return new Enqueued(row.id(), true);
  }
}
