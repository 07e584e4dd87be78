package dev.holdfast.tenant;

import java.util.ArrayList;
import java.util.List;
import java.util.function.ToLongFunction;
import org.jdbi.v3.core.mapper.RowMapper;
import org.jdbi.v3.core.result.ResultIterator;
import org.jdbi.v3.core.statement.Query;

/**
 * The first rows of a list, as many as fit into memory: a row may be half a megabyte, and a
 * thousand of those would be too much for a process that serves many callers.
 *
 * @param more whether the list goes on after these rows, or may go on
 */
public record Portion<T>(List<T> rows, boolean more) {

  /** The largest size of a portion; its last row may exceed it. */
  public static final int MOST_BYTES = 8 << 20;

  // How many rows the driver has in memory meanwhile.
  private static final int FETCHED_AT_ONCE = 16;

  public Portion {
    rows = List.copyOf(rows);
  }

  /**
   * Reads a portion. Must be called in a transaction: outside of one the driver fetches all rows at
   * once.
   *
   * @param limit the limit of the query itself; when that many rows came, there may be more
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
