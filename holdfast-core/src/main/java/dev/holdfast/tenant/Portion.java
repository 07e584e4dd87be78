package dev.holdfast.tenant;

import java.util.ArrayList;
import java.util.List;
import java.util.function.ToLongFunction;
import org.jdbi.v3.core.mapper.RowMapper;
import org.jdbi.v3.core.result.ResultIterator;
import org.jdbi.v3.core.statement.Query;

/**
 * The first rows of a list, as far as they fit into memory: a row may be half a megabyte, and a
 * thousand such would be too much for a process that answers many.
 *
 * @param more it ended before the list did, or may have
 */
public record Portion<T>(List<T> rows, boolean more) {

  /** What the rows of one portion weigh, but for the last one, which may go beyond it. */
  public static final int MOST_BYTES = 8 << 20;

  // What the driver has in its own memory meanwhile.
  private static final int FETCHED_AT_ONCE = 16;

  public Portion {
    rows = List.copyOf(rows);
  }

  /**
   * Reads one. To be asked in a transaction: outside of one the driver fetches all rows at once.
   *
   * @param limit that the query has, too; as many rows as that may not have been all
   * @param weight about how many bytes a row has
   */
  public static <T> Portion<T> of(
      Query query, int limit, RowMapper<T> mapper, ToLongFunction<T> weight) {
    List<T> rows = new ArrayList<>();
    long bytes = 0;
    try (ResultIterator<T> left = query.setFetchSize(FETCHED_AT_ONCE).map(mapper).iterator()) {
      while (bytes < MOST_BYTES && left.hasNext()) {
        T row = left.next();
        rows.add(row);
        bytes += weight.applyAsLong(row);
      }
      return new Portion<>(rows, rows.size() == limit || left.hasNext());
    }
  }
}
