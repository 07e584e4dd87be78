package dev.holdfast.tenant;

import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Types;
import java.time.Instant;
import java.time.OffsetDateTime;
import java.time.ZoneOffset;
import java.util.ArrayList;
import java.util.Collection;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.UUID;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.jdbi.v3.core.Handle;
import org.jdbi.v3.core.JdbiException;
import org.jspecify.annotations.Nullable;
import org.postgresql.PGConnection;

/**
 * A statement that is run very often, in plain JDBC. JDBI finds out at every run anew how to bind
 * each name and value, which took longer than reading the result. Here names are looked up once.
 * Thread-safe.
 */
public final class Prepared {

  private static final Pattern NAME = Pattern.compile("(?<!:):([a-z_]+)");

  /** Binds the values of one run. */
  @FunctionalInterface
  public interface Binding {
    void to(Values values) throws SQLException;
  }

  /** Reads the result of one run. */
  @FunctionalInterface
  public interface Reading<R> {
    R of(ResultSet rows) throws SQLException;
  }

  private final String sql;
  private final Map<String, List<Integer>> places = new HashMap<>();

  Prepared(String named) {
    Matcher names = NAME.matcher(named);
    int place = 0;
    while (names.find()) {
      places.computeIfAbsent(names.group(1), name -> new ArrayList<>()).add(++place);
    }
    this.sql = names.replaceAll("?");
  }

  public <R> R query(Handle handle, Binding binding, Reading<R> reading) {
    try (PreparedStatement statement = bound(handle.getConnection(), binding);
        ResultSet rows = statement.executeQuery()) {
      return reading.of(rows);
    } catch (SQLException e) {
      throw new Failed(e);
    }
  }

  /** Returns how many rows it changed. */
  public int update(Handle handle, Binding binding) {
    try {
      return update(handle.getConnection(), binding);
    } catch (SQLException e) {
      throw new Failed(e);
    }
  }

  /** Returns how many rows it changed. */
  public int update(Connection connection, Binding binding) throws SQLException {
    try (PreparedStatement statement = bound(connection, binding)) {
      return statement.executeUpdate();
    }
  }

  private PreparedStatement bound(Connection connection, Binding binding) throws SQLException {
    PreparedStatement statement = connection.prepareStatement(sql);
    try {
      binding.to(new Values(statement));
      return statement;
    } catch (SQLException | RuntimeException e) {
      statement.close();
      throw e;
    }
  }

  /** Handled like the exceptions of JDBI itself. */
  private static final class Failed extends JdbiException {
    private static final long serialVersionUID = 1L;

    Failed(SQLException cause) {
      super(cause);
    }
  }

  /**
   * The values of one run. A name must always have the same type: another type would be another
   * plan.
   */
  public final class Values {

    private final PreparedStatement statement;

    private Values(PreparedStatement statement) {
      this.statement = statement;
    }

    public Values set(String name, UUID value) throws SQLException {
      for (int place : places(name)) {
        statement.setObject(place, value);
      }
      return this;
    }

    public Values set(String name, @Nullable String value) throws SQLException {
      return set(name, value, Types.VARCHAR);
    }

    public Values set(String name, @Nullable OffsetDateTime value) throws SQLException {
      return set(name, value, Types.TIMESTAMP_WITH_TIMEZONE);
    }

    public Values set(String name, @Nullable Long value) throws SQLException {
      return set(name, value, Types.BIGINT);
    }

    public Values set(String name, int value) throws SQLException {
      return set(name, value, Types.INTEGER);
    }

    public Values set(String name, boolean value) throws SQLException {
      return set(name, value, Types.BOOLEAN);
    }

    public Values texts(String name, @Nullable Collection<String> values) throws SQLException {
      return values == null ? set(name, null, Types.ARRAY) : array(name, "text", values.toArray());
    }

    public Values ids(String name, UUID[] values) throws SQLException {
      return array(name, "uuid", values);
    }

    public Values numbers(String name, long[] values) throws SQLException {
      return array(name, "bigint", values);
    }

    public Values moments(String name, List<Instant> values) throws SQLException {
      return array(
          name,
          "timestamptz",
          values.stream().map(moment -> moment.atOffset(ZoneOffset.UTC)).toArray());
    }

    private Values array(String name, String type, Object values) throws SQLException {
      PGConnection connection = statement.getConnection().unwrap(PGConnection.class);
      return set(name, connection.createArrayOf(type, values), Types.ARRAY);
    }

    private Values set(String name, @Nullable Object value, int type) throws SQLException {
      for (int place : places(name)) {
        statement.setObject(place, value, type);
      }
      return this;
    }

    private List<Integer> places(String name) {
      List<Integer> named = places.get(name);
      if (named == null) {
        throw new IllegalArgumentException("no :" + name + " in " + sql);
      }
      return named;
    }
  }
}
