package dev.holdfast.bench.contender;

import com.zaxxer.hikari.HikariDataSource;
import java.io.IOException;
import java.io.StringReader;
import java.io.UncheckedIOException;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.SQLException;
import org.postgresql.PGConnection;

/** One table, one index, one prepared statement for each thing to do. */
final class RawQueue implements JobQueue {

  private static final String INSERT =
      """
      INSERT INTO raw.job (kind, payload) VALUES ('noop', ?::json)
      """;

  private static final String COPY =
      """
      COPY raw.job (kind, payload) FROM STDIN
      """;

  private static final String UNFINISHED =
      """
      SELECT count(*) FROM raw.job
      """;

  private final HikariDataSource pool;

  RawQueue(HikariDataSource pool) {
    this.pool = pool;
  }

  @Override
  public void enqueue(int number) {
    try (Connection connection = pool.getConnection();
        PreparedStatement insert = connection.prepareStatement(INSERT)) {
      insert.setString(1, Integer.toString(number));
      insert.executeUpdate();
    } catch (SQLException e) {
      throw new IllegalStateException(e);
    }
  }

  /** Its worker polls, and hears of no enqueue wherever it comes from. */
  @Override
  public void enqueueElsewhere(int number) {
    enqueue(number);
  }

  @Override
  public void enqueueAll(int from, int count) {
    StringBuilder lines = new StringBuilder(count * 12);
    for (int number = from; number < from + count; number++) {
      lines.append("noop\t").append(number).append('\n');
    }
    try (Connection connection = pool.getConnection()) {
      connection
          .unwrap(PGConnection.class)
          .getCopyAPI()
          .copyIn(COPY, new StringReader(lines.toString()));
    } catch (SQLException e) {
      throw new IllegalStateException(e);
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  @Override
  public void fill(Backlog backlog, int jobs) {
    new Chunks(FIRST_FILLING, jobs).forEach(this::enqueueAll);
  }

  @Override
  public AutoCloseable work(Work work) {
    return RawWorker.start(pool, work);
  }

  @Override
  public long unfinished() {
    return Count.of(pool, UNFINISHED);
  }

  @Override
  public void close() {
    pool.close();
  }
}
