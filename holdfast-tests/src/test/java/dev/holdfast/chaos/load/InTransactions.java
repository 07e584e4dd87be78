package dev.holdfast.chaos.load;

import dev.holdfast.Holdfast;
import dev.holdfast.job.NewJob;
import dev.holdfast.queue.Enqueued;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.List;
import java.util.Optional;
import java.util.UUID;
import javax.sql.DataSource;

/**
 * Jobs in an application's own transactions. They have no ids that the application knows; so each
 * transaction also stores a number, by which one is found whose commit nobody answered.
 */
public final class InTransactions implements EnqueueWay {

  private static final String NUMBERS = "CREATE TABLE chaos_batch (number bigint PRIMARY KEY)";
  // Waits for a transaction that is still under way: if it commits, the number is taken.
  private static final String TAKE =
      "INSERT INTO chaos_batch (number) VALUES (?) ON CONFLICT DO NOTHING";

  /** What was stored, if its transaction was committed. */
  private record Unanswered(long number, List<UUID> ids) {}

  private final Holdfast holdfast;
  private final DataSource pool;
  private Optional<Unanswered> unanswered = Optional.empty();
  private long numbers;

  /**
   * Stores jobs through this pool.
   *
   * @param setUp another one, on which nothing is cut
   */
  public InTransactions(DataSource pool, DataSource setUp) throws SQLException {
    this.holdfast = Holdfast.on(pool);
    this.pool = pool;
    try (Connection connection = setUp.getConnection();
        Statement statement = connection.createStatement()) {
      statement.execute(NUMBERS);
    }
  }

  @Override
  public List<UUID> store(List<NewJob> jobs) throws SQLException {
    if (unanswered.isPresent()) {
      Unanswered earlier = unanswered.get();
      boolean isStored = !take(earlier.number);
      unanswered = Optional.empty();
      if (isStored) {
        return earlier.ids;
      }
    }
    try (Connection connection = pool.getConnection()) {
      connection.setAutoCommit(false);
      long number = ++numbers;
      take(connection, number);
      List<UUID> ids =
          holdfast.jobs().enqueueAll(connection, jobs).stream().map(Enqueued::id).toList();
      unanswered = Optional.of(new Unanswered(number, ids));
      connection.commit();
      unanswered = Optional.empty();
      return ids;
    }
  }

  private boolean take(long number) throws SQLException {
    try (Connection connection = pool.getConnection()) {
      return take(connection, number);
    }
  }

  private static boolean take(Connection connection, long number) throws SQLException {
    try (PreparedStatement statement = connection.prepareStatement(TAKE)) {
      statement.setLong(1, number);
      return statement.executeUpdate() == 1;
    }
  }
}
